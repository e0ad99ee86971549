package dwread

// Attribute forms (DWARF 5, 7.5.6, table 7.6).
const (
	FormAddr          = 0x01
	FormBlock2        = 0x03
	FormBlock4        = 0x04
	FormData2         = 0x05
	FormData4         = 0x06
	FormData8         = 0x07
	FormString        = 0x08
	FormBlock         = 0x09
	FormBlock1        = 0x0a
	FormData1         = 0x0b
	FormFlag          = 0x0c
	FormSdata         = 0x0d
	FormStrp          = 0x0e
	FormUdata         = 0x0f
	FormRefAddr       = 0x10
	FormRef1          = 0x11
	FormRef2          = 0x12
	FormRef4          = 0x13
	FormRef8          = 0x14
	FormRefUdata      = 0x15
	FormIndirect      = 0x16
	FormSecOffset     = 0x17
	FormExprloc       = 0x18
	FormFlagPresent   = 0x19
	FormStrx          = 0x1a
	FormAddrx         = 0x1b
	FormRefSup4       = 0x1c
	FormStrpSup       = 0x1d
	FormData16        = 0x1e
	FormLineStrp      = 0x1f
	FormRefSig8       = 0x20
	FormImplicitConst = 0x21
	FormLoclistx      = 0x22
	FormRnglistx      = 0x23
	FormRefSup8       = 0x24
	FormStrx1         = 0x25
	FormStrx2         = 0x26
	FormStrx3         = 0x27
	FormStrx4         = 0x28
	FormAddrx1        = 0x29
	FormAddrx2        = 0x2a
	FormAddrx3        = 0x2b
	FormAddrx4        = 0x2c
	FormGNUAddrIndex  = 0x1f01
	FormGNUStrIndex   = 0x1f02
	FormGNURefAlt     = 0x1f20
	FormGNUStrpAlt    = 0x1f21
)

// FixedSize is the size of a form that always has the same, else -1.
func FixedSize(form uint16, addrSize int, dwarf64 bool, version int) int {
	off := 4
	if dwarf64 {
		off = 8
	}
	switch form {
	case FormAddr:
		return addrSize
	case FormData1, FormRef1, FormFlag, FormStrx1, FormAddrx1:
		return 1
	case FormData2, FormRef2, FormStrx2, FormAddrx2:
		return 2
	case FormStrx3, FormAddrx3:
		return 3
	case FormData4, FormRef4, FormRefSup4, FormStrx4, FormAddrx4:
		return 4
	case FormData8, FormRef8, FormRefSig8, FormRefSup8:
		return 8
	case FormData16:
		return 16
	case FormStrp, FormSecOffset, FormLineStrp, FormStrpSup, FormGNURefAlt, FormGNUStrpAlt:
		return off
	case FormRefAddr:
		if version <= 2 {
			return addrSize
		}
		return off
	case FormFlagPresent, FormImplicitConst:
		return 0
	}
	return -1
}

// Encodings of base types (DWARF 5, 7.8, table 7.11).
const (
	ATEAddress      = 0x01
	ATEBoolean      = 0x02
	ATEComplexFloat = 0x03
	ATEFloat        = 0x04
	ATESigned       = 0x05
	ATESignedChar   = 0x06
	ATEUnsigned     = 0x07
	ATEUnsignedChar = 0x08
	ATEUTF          = 0x10
	ATEUCS          = 0x11
	ATEASCII        = 0x12
)
