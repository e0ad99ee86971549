package outfile

import (
	"os/exec"
	"testing"
	"time"
)

// TestStrftime compares with what date(1) of the system gives.
func TestStrftime(t *testing.T) {
	const all = "a%Y-%y-%m-%d-%e-%H-%I-%M-%S-%p-%a-%A-%b-%h-%B-%j-%z-%Z-%F-%T-%R-%r-%D-%x-%X-%c-%%-%s-%C-%k-%l-%u-%w-" +
		"%G-%g-%V-%U-%W.log"
	for _, day := range []string{"2024-02-29 13:04:05", "2023-01-01 00:00:00", "2021-12-31 23:59:59",
		"2026-07-05 12:30:00"} {
		cmd := exec.Command("date", "-u", "-d", day, "+"+all)
		cmd.Env = []string{"LC_ALL=C"}
		want, err := cmd.Output()
		if err != nil {
			t.Skip("no date(1) that takes -d: ", err)
		}
		at, _ := time.ParseInLocation("2006-01-02 15:04:05", day, time.UTC)
		if got := Name(all, at) + "\n"; got != string(want) {
			t.Errorf("%s:\n got %swant %s", day, got, want)
		}
	}
	if got := Name("50%.log%q%", time.Time{}); got != "50%.log%q%" {
		t.Errorf("no conversions: %q", got)
	}
}
