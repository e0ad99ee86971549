package elftest

import (
	"bytes"
	"encoding/binary"
)

// Encode builds section bytes: uint8, uint16, uint32 and uint64 as they are, int as ULEB128, a string raw.
func Encode(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		switch p := p.(type) {
		case uint8, uint16, uint32, uint64:
			binary.Write(&b, binary.LittleEndian, p)
		case int:
			b.Write(binary.AppendUvarint(nil, uint64(p)))
		case string:
			b.WriteString(p)
		case []byte:
			b.Write(p)
		}
	}
	return b.Bytes()
}
