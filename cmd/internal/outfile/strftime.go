package outfile

import (
	"fmt"
	"strings"
	"time"
)

// Name puts the time t into the name of an output file: %Y, %H and so on as Name(3) has them in the C
// locale. What is no conversion stays as it is.
func Name(name string, t time.Time) string {
	if !strings.Contains(name, "%") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' || i+1 == len(name) {
			b.WriteByte(name[i])
			continue
		}
		i++
		if text, ok := conversion(name[i], t); ok {
			b.WriteString(text)
		} else {
			b.WriteString(name[i-1 : i+1])
		}
	}
	return b.String()
}

// layouts are the conversions that time.Format knows.
var layouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'j': "002", 'z': "-0700", 'Z': "MST",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM", 'D': "01/02/06", 'x': "01/02/06",
	'X': "15:04:05",
	'c': "Mon Jan _2 15:04:05 2006",
}

func conversion(c byte, t time.Time) (string, bool) {
	if l := layouts[c]; l != "" {
		return t.Format(l), true
	}
	year, week := t.ISOWeek()
	day := (int(t.Weekday()) + 6) % 7 // since Monday
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 'u':
		return fmt.Sprint(day + 1), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'G':
		return fmt.Sprint(year), true
	case 'g':
		return fmt.Sprintf("%02d", year%100), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'U': // weeks from Sunday
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'W': // weeks from Monday
		return fmt.Sprintf("%02d", (t.YearDay()+6-day)/7), true
	}
	return "", false
}
