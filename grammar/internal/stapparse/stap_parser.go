// Code generated from StapParser.g4 by antlr-ng. DO NOT EDIT.

package stapparse // StapParser
import (
	"fmt"
	"strconv"
	"sync"

	"github.com/antlr4-go/antlr/v4"
)

// Suppress unused import errors
var _ = fmt.Printf
var _ = strconv.Itoa
var _ = sync.Once{}

type StapParser struct {
	Base
}

var StapParserParserStaticData struct {
	once                   sync.Once
	serializedATN          []int32
	LiteralNames           []string
	SymbolicNames          []string
	RuleNames              []string
	PredictionContextCache *antlr.PredictionContextCache
	atn                    *antlr.ATN
	decisionToDFA          []*antlr.DFA
}

func stapparserParserInit() {
	staticData := &StapParserParserStaticData
	staticData.LiteralNames = []string{
		"", "", "", "", "", "", "", "", "", "", "", "'probe'", "'global'", "'private'",
		"'function'", "'if'", "'else'", "'for'", "'foreach'", "'in'", "'limit'",
		"'return'", "'delete'", "'while'", "'break'", "'continue'", "'next'",
		"'string'", "'long'", "'try'", "'catch'", "", "", "", "", "", "", "",
		"", "", "", "", "", "", "'%('", "'%?'", "'%:'", "'%)'", "'>>>'", "'<<<'",
		"'<<='", "'>>='", "'=='", "'!='", "'<='", "'>='", "'=~'", "'!~'", "'+='",
		"'-='", "'*='", "'/='", "'%='", "'&='", "'^='", "'|='", "'.='", "'&&'",
		"'||'", "'++'", "'--'", "'->'", "'<<'", "'>>'", "'('", "')'", "'{'",
		"'}'", "'['", "']'", "';'", "','", "'.'", "'?'", "':'", "'!'", "'~'",
		"'='", "'+'", "'-'", "'*'", "'/'", "'%'", "'&'", "'^'", "'|'", "'<'",
		"'>'",
	}
	staticData.SymbolicNames = []string{
		"", "FUNC_NAME", "RETURN_VOID", "U_MINUS", "U_PLUS", "ADDR", "PRE_INC",
		"PRE_DEC", "LIST_OPEN", "STRING_MORE", "ASSERTION", "PROBE", "GLOBAL",
		"PRIVATE", "FUNCTION", "IF", "ELSE", "FOR", "FOREACH", "IN", "LIMIT",
		"RETURN", "DELETE", "WHILE", "BREAK", "CONTINUE", "NEXT", "STRING_T",
		"LONG_T", "TRY", "CATCH", "ARG", "ATWORD", "TARGET", "DOLLARS", "ID",
		"NUMBER", "STRING", "EMBEDDED", "OPEN_STRING", "OPEN_EMBEDDED", "OPEN_COMMENT",
		"COMMENT", "WS", "PP_IF", "PP_THEN", "PP_ELSE", "PP_END", "SHR3", "AGG",
		"SHL_A", "SHR_A", "EQ", "NE", "LE", "GE", "MATCH", "NMATCH", "ADD_A",
		"SUB_A", "MUL_A", "DIV_A", "MOD_A", "AND_A", "XOR_A", "OR_A", "CAT_A",
		"ANDAND", "OROR", "INC", "DEC", "ARROW", "SHL", "SHR", "LPAREN", "RPAREN",
		"LBRACE", "RBRACE", "LBRACK", "RBRACK", "SEMI", "COMMA", "DOT", "QUEST",
		"COLON", "BANG", "TILDE", "ASSIGN", "PLUS", "MINUS", "STAR", "SLASH",
		"MOD", "AND", "XOR", "OR", "LT", "GT", "JUNK",
	}
	staticData.RuleNames = []string{
		"item", "privateItem", "probe", "points", "pointList", "point", "comp",
		"namePart", "globals", "globalVar", "attribute", "function", "param",
		"type", "literal", "block", "stmt", "foreachHead", "foreachKeys", "keyList",
		"key", "sort", "foreachBase", "foreachOver", "expr", "binop", "unary",
		"primary", "call", "arg", "suffix",
	}
	staticData.PredictionContextCache = antlr.NewPredictionContextCache()
	staticData.serializedATN = []int32{
		4, 1, 98, 464, 2, 0, 7, 0, 2, 1, 7, 1, 2, 2, 7, 2, 2, 3, 7, 3, 2, 4, 7,
		4, 2, 5, 7, 5, 2, 6, 7, 6, 2, 7, 7, 7, 2, 8, 7, 8, 2, 9, 7, 9, 2, 10, 7,
		10, 2, 11, 7, 11, 2, 12, 7, 12, 2, 13, 7, 13, 2, 14, 7, 14, 2, 15, 7, 15,
		2, 16, 7, 16, 2, 17, 7, 17, 2, 18, 7, 18, 2, 19, 7, 19, 2, 20, 7, 20, 2,
		21, 7, 21, 2, 22, 7, 22, 2, 23, 7, 23, 2, 24, 7, 24, 2, 25, 7, 25, 2, 26,
		7, 26, 2, 27, 7, 27, 2, 28, 7, 28, 2, 29, 7, 29, 2, 30, 7, 30, 1, 0, 1,
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 3, 0, 72, 8, 0, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 3, 1, 79, 8, 1, 1, 2, 1, 2, 1, 2, 1, 2, 5, 2, 85, 8,
		2, 10, 2, 12, 2, 88, 9, 2, 1, 2, 1, 2, 1, 2, 3, 2, 93, 8, 2, 1, 3, 1, 3,
		1, 3, 5, 3, 98, 8, 3, 10, 3, 12, 3, 101, 9, 3, 1, 4, 1, 4, 1, 4, 1, 5,
		1, 5, 1, 5, 5, 5, 109, 8, 5, 10, 5, 12, 5, 112, 9, 5, 1, 5, 3, 5, 115,
		8, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 3, 5, 122, 8, 5, 1, 6, 4, 6, 125, 8,
		6, 11, 6, 12, 6, 126, 1, 6, 1, 6, 1, 6, 1, 6, 3, 6, 133, 8, 6, 1, 6, 1,
		6, 1, 6, 1, 6, 3, 6, 139, 8, 6, 1, 7, 1, 7, 1, 8, 1, 8, 1, 8, 5, 8, 146,
		8, 8, 10, 8, 12, 8, 149, 9, 8, 1, 8, 3, 8, 152, 8, 8, 1, 9, 1, 9, 3, 9,
		156, 8, 9, 1, 9, 1, 9, 1, 9, 1, 9, 3, 9, 162, 8, 9, 1, 9, 1, 9, 3, 9, 166,
		8, 9, 1, 9, 5, 9, 169, 8, 9, 10, 9, 12, 9, 172, 9, 9, 1, 10, 1, 10, 1,
		10, 1, 11, 1, 11, 1, 11, 3, 11, 180, 8, 11, 1, 11, 1, 11, 1, 11, 1, 11,
		5, 11, 186, 8, 11, 10, 11, 12, 11, 189, 9, 11, 3, 11, 191, 8, 11, 1, 11,
		1, 11, 1, 11, 3, 11, 196, 8, 11, 1, 11, 1, 11, 3, 11, 200, 8, 11, 1, 12,
		1, 12, 1, 12, 3, 12, 205, 8, 12, 1, 13, 1, 13, 1, 14, 3, 14, 210, 8, 14,
		1, 14, 1, 14, 1, 14, 5, 14, 215, 8, 14, 10, 14, 12, 14, 218, 9, 14, 3,
		14, 220, 8, 14, 1, 15, 1, 15, 5, 15, 224, 8, 15, 10, 15, 12, 15, 227, 9,
		15, 1, 15, 1, 15, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16,
		1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1,
		16, 3, 16, 250, 8, 16, 1, 16, 1, 16, 3, 16, 254, 8, 16, 1, 16, 1, 16, 3,
		16, 258, 8, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16,
		1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 3, 16, 274, 8, 16, 1, 16, 1,
		16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 3, 16,
		287, 8, 16, 1, 17, 1, 17, 1, 17, 1, 17, 1, 17, 1, 17, 1, 17, 5, 17, 296,
		8, 17, 10, 17, 12, 17, 299, 9, 17, 1, 17, 1, 17, 3, 17, 303, 8, 17, 1,
		17, 3, 17, 306, 8, 17, 1, 17, 3, 17, 309, 8, 17, 1, 17, 3, 17, 312, 8,
		17, 1, 17, 1, 17, 3, 17, 316, 8, 17, 1, 18, 1, 18, 1, 18, 1, 18, 3, 18,
		322, 8, 18, 3, 18, 324, 8, 18, 1, 18, 3, 18, 327, 8, 18, 1, 19, 1, 19,
		1, 19, 1, 19, 5, 19, 333, 8, 19, 10, 19, 12, 19, 336, 9, 19, 1, 19, 1,
		19, 1, 20, 1, 20, 3, 20, 342, 8, 20, 1, 21, 1, 21, 1, 22, 1, 22, 3, 22,
		348, 8, 22, 1, 23, 1, 23, 5, 23, 352, 8, 23, 10, 23, 12, 23, 355, 9, 23,
		1, 24, 1, 24, 1, 24, 1, 24, 1, 24, 1, 24, 1, 24, 1, 24, 1, 24, 5, 24, 366,
		8, 24, 10, 24, 12, 24, 369, 9, 24, 1, 25, 1, 25, 1, 26, 5, 26, 374, 8,
		26, 10, 26, 12, 26, 377, 9, 26, 1, 26, 1, 26, 5, 26, 381, 8, 26, 10, 26,
		12, 26, 384, 9, 26, 1, 26, 3, 26, 387, 8, 26, 1, 27, 1, 27, 1, 27, 1, 27,
		1, 27, 1, 27, 1, 27, 1, 27, 1, 27, 5, 27, 398, 8, 27, 10, 27, 12, 27, 401,
		9, 27, 1, 27, 1, 27, 1, 27, 1, 27, 1, 27, 1, 27, 1, 27, 1, 27, 5, 27, 411,
		8, 27, 10, 27, 12, 27, 414, 9, 27, 3, 27, 416, 8, 27, 1, 28, 1, 28, 1,
		28, 1, 28, 1, 28, 5, 28, 423, 8, 28, 10, 28, 12, 28, 426, 9, 28, 3, 28,
		428, 8, 28, 1, 28, 1, 28, 1, 29, 1, 29, 3, 29, 434, 8, 29, 1, 30, 1, 30,
		1, 30, 1, 30, 5, 30, 440, 8, 30, 10, 30, 12, 30, 443, 9, 30, 1, 30, 1,
		30, 3, 30, 447, 8, 30, 3, 30, 449, 8, 30, 1, 30, 1, 30, 3, 30, 453, 8,
		30, 3, 30, 455, 8, 30, 1, 30, 1, 30, 1, 30, 1, 30, 1, 30, 3, 30, 462, 8,
		30, 1, 30, 0, 0, 31, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
		28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 0,
		11, 2, 0, 58, 58, 87, 87, 2, 0, 83, 83, 85, 85, 3, 0, 1, 1, 35, 36, 90,
		90, 2, 0, 8, 8, 78, 78, 3, 0, 1, 1, 27, 28, 35, 35, 1, 0, 27, 28, 1, 0,
		88, 89, 5, 0, 19, 19, 48, 68, 72, 73, 82, 82, 87, 97, 2, 0, 3, 7, 85, 86,
		1, 0, 69, 70, 1, 0, 34, 35, 520, 0, 71, 1, 0, 0, 0, 2, 78, 1, 0, 0, 0,
		4, 80, 1, 0, 0, 0, 6, 94, 1, 0, 0, 0, 8, 102, 1, 0, 0, 0, 10, 105, 1, 0,
		0, 0, 12, 138, 1, 0, 0, 0, 14, 140, 1, 0, 0, 0, 16, 142, 1, 0, 0, 0, 18,
		153, 1, 0, 0, 0, 20, 173, 1, 0, 0, 0, 22, 176, 1, 0, 0, 0, 24, 201, 1,
		0, 0, 0, 26, 206, 1, 0, 0, 0, 28, 219, 1, 0, 0, 0, 30, 221, 1, 0, 0, 0,
		32, 286, 1, 0, 0, 0, 34, 288, 1, 0, 0, 0, 36, 326, 1, 0, 0, 0, 38, 328,
		1, 0, 0, 0, 40, 339, 1, 0, 0, 0, 42, 343, 1, 0, 0, 0, 44, 347, 1, 0, 0,
		0, 46, 349, 1, 0, 0, 0, 48, 356, 1, 0, 0, 0, 50, 370, 1, 0, 0, 0, 52, 375,
		1, 0, 0, 0, 54, 415, 1, 0, 0, 0, 56, 417, 1, 0, 0, 0, 58, 433, 1, 0, 0,
		0, 60, 461, 1, 0, 0, 0, 62, 72, 3, 4, 2, 0, 63, 64, 5, 12, 0, 0, 64, 72,
		3, 16, 8, 0, 65, 66, 5, 13, 0, 0, 66, 72, 3, 2, 1, 0, 67, 68, 5, 14, 0,
		0, 68, 72, 3, 22, 11, 0, 69, 72, 5, 38, 0, 0, 70, 72, 5, 0, 0, 1, 71, 62,
		1, 0, 0, 0, 71, 63, 1, 0, 0, 0, 71, 65, 1, 0, 0, 0, 71, 67, 1, 0, 0, 0,
		71, 69, 1, 0, 0, 0, 71, 70, 1, 0, 0, 0, 72, 1, 1, 0, 0, 0, 73, 74, 5, 14,
		0, 0, 74, 79, 3, 22, 11, 0, 75, 76, 5, 12, 0, 0, 76, 79, 3, 16, 8, 0, 77,
		79, 3, 16, 8, 0, 78, 73, 1, 0, 0, 0, 78, 75, 1, 0, 0, 0, 78, 77, 1, 0,
		0, 0, 79, 3, 1, 0, 0, 0, 80, 81, 5, 11, 0, 0, 81, 86, 3, 6, 3, 0, 82, 83,
		7, 0, 0, 0, 83, 85, 3, 6, 3, 0, 84, 82, 1, 0, 0, 0, 85, 88, 1, 0, 0, 0,
		86, 84, 1, 0, 0, 0, 86, 87, 1, 0, 0, 0, 87, 89, 1, 0, 0, 0, 88, 86, 1,
		0, 0, 0, 89, 92, 3, 30, 15, 0, 90, 91, 5, 81, 0, 0, 91, 93, 3, 30, 15,
		0, 92, 90, 1, 0, 0, 0, 92, 93, 1, 0, 0, 0, 93, 5, 1, 0, 0, 0, 94, 99, 3,
		10, 5, 0, 95, 96, 5, 81, 0, 0, 96, 98, 3, 10, 5, 0, 97, 95, 1, 0, 0, 0,
		98, 101, 1, 0, 0, 0, 99, 97, 1, 0, 0, 0, 99, 100, 1, 0, 0, 0, 100, 7, 1,
		0, 0, 0, 101, 99, 1, 0, 0, 0, 102, 103, 3, 6, 3, 0, 103, 104, 5, 0, 0,
		1, 104, 9, 1, 0, 0, 0, 105, 110, 3, 12, 6, 0, 106, 107, 5, 82, 0, 0, 107,
		109, 3, 12, 6, 0, 108, 106, 1, 0, 0, 0, 109, 112, 1, 0, 0, 0, 110, 108,
		1, 0, 0, 0, 110, 111, 1, 0, 0, 0, 111, 114, 1, 0, 0, 0, 112, 110, 1, 0,
		0, 0, 113, 115, 7, 1, 0, 0, 114, 113, 1, 0, 0, 0, 114, 115, 1, 0, 0, 0,
		115, 121, 1, 0, 0, 0, 116, 117, 5, 15, 0, 0, 117, 118, 5, 74, 0, 0, 118,
		119, 3, 48, 24, 0, 119, 120, 5, 75, 0, 0, 120, 122, 1, 0, 0, 0, 121, 116,
		1, 0, 0, 0, 121, 122, 1, 0, 0, 0, 122, 11, 1, 0, 0, 0, 123, 125, 3, 14,
		7, 0, 124, 123, 1, 0, 0, 0, 125, 126, 1, 0, 0, 0, 126, 124, 1, 0, 0, 0,
		126, 127, 1, 0, 0, 0, 127, 132, 1, 0, 0, 0, 128, 129, 5, 74, 0, 0, 129,
		130, 3, 28, 14, 0, 130, 131, 5, 75, 0, 0, 131, 133, 1, 0, 0, 0, 132, 128,
		1, 0, 0, 0, 132, 133, 1, 0, 0, 0, 133, 139, 1, 0, 0, 0, 134, 135, 5, 76,
		0, 0, 135, 136, 3, 6, 3, 0, 136, 137, 5, 77, 0, 0, 137, 139, 1, 0, 0, 0,
		138, 124, 1, 0, 0, 0, 138, 134, 1, 0, 0, 0, 139, 13, 1, 0, 0, 0, 140, 141,
		7, 2, 0, 0, 141, 15, 1, 0, 0, 0, 142, 147, 3, 18, 9, 0, 143, 144, 5, 81,
		0, 0, 144, 146, 3, 18, 9, 0, 145, 143, 1, 0, 0, 0, 146, 149, 1, 0, 0, 0,
		147, 145, 1, 0, 0, 0, 147, 148, 1, 0, 0, 0, 148, 151, 1, 0, 0, 0, 149,
		147, 1, 0, 0, 0, 150, 152, 5, 80, 0, 0, 151, 150, 1, 0, 0, 0, 151, 152,
		1, 0, 0, 0, 152, 17, 1, 0, 0, 0, 153, 155, 5, 35, 0, 0, 154, 156, 5, 92,
		0, 0, 155, 154, 1, 0, 0, 0, 155, 156, 1, 0, 0, 0, 156, 161, 1, 0, 0, 0,
		157, 158, 7, 3, 0, 0, 158, 159, 3, 28, 14, 0, 159, 160, 5, 79, 0, 0, 160,
		162, 1, 0, 0, 0, 161, 157, 1, 0, 0, 0, 161, 162, 1, 0, 0, 0, 162, 165,
		1, 0, 0, 0, 163, 164, 5, 87, 0, 0, 164, 166, 3, 28, 14, 0, 165, 163, 1,
		0, 0, 0, 165, 166, 1, 0, 0, 0, 166, 170, 1, 0, 0, 0, 167, 169, 3, 20, 10,
		0, 168, 167, 1, 0, 0, 0, 169, 172, 1, 0, 0, 0, 170, 168, 1, 0, 0, 0, 170,
		171, 1, 0, 0, 0, 171, 19, 1, 0, 0, 0, 172, 170, 1, 0, 0, 0, 173, 174, 5,
		35, 0, 0, 174, 175, 3, 28, 14, 0, 175, 21, 1, 0, 0, 0, 176, 179, 7, 4,
		0, 0, 177, 178, 5, 84, 0, 0, 178, 180, 3, 26, 13, 0, 179, 177, 1, 0, 0,
		0, 179, 180, 1, 0, 0, 0, 180, 181, 1, 0, 0, 0, 181, 190, 5, 74, 0, 0, 182,
		187, 3, 24, 12, 0, 183, 184, 5, 81, 0, 0, 184, 186, 3, 24, 12, 0, 185,
		183, 1, 0, 0, 0, 186, 189, 1, 0, 0, 0, 187, 185, 1, 0, 0, 0, 187, 188,
		1, 0, 0, 0, 188, 191, 1, 0, 0, 0, 189, 187, 1, 0, 0, 0, 190, 182, 1, 0,
		0, 0, 190, 191, 1, 0, 0, 0, 191, 192, 1, 0, 0, 0, 192, 195, 5, 75, 0, 0,
		193, 194, 5, 84, 0, 0, 194, 196, 3, 28, 14, 0, 195, 193, 1, 0, 0, 0, 195,
		196, 1, 0, 0, 0, 196, 199, 1, 0, 0, 0, 197, 200, 3, 30, 15, 0, 198, 200,
		5, 38, 0, 0, 199, 197, 1, 0, 0, 0, 199, 198, 1, 0, 0, 0, 200, 23, 1, 0,
		0, 0, 201, 204, 5, 35, 0, 0, 202, 203, 5, 84, 0, 0, 203, 205, 3, 26, 13,
		0, 204, 202, 1, 0, 0, 0, 204, 205, 1, 0, 0, 0, 205, 25, 1, 0, 0, 0, 206,
		207, 7, 5, 0, 0, 207, 27, 1, 0, 0, 0, 208, 210, 5, 3, 0, 0, 209, 208, 1,
		0, 0, 0, 209, 210, 1, 0, 0, 0, 210, 211, 1, 0, 0, 0, 211, 220, 5, 36, 0,
		0, 212, 216, 5, 37, 0, 0, 213, 215, 5, 9, 0, 0, 214, 213, 1, 0, 0, 0, 215,
		218, 1, 0, 0, 0, 216, 214, 1, 0, 0, 0, 216, 217, 1, 0, 0, 0, 217, 220,
		1, 0, 0, 0, 218, 216, 1, 0, 0, 0, 219, 209, 1, 0, 0, 0, 219, 212, 1, 0,
		0, 0, 220, 29, 1, 0, 0, 0, 221, 225, 5, 76, 0, 0, 222, 224, 3, 32, 16,
		0, 223, 222, 1, 0, 0, 0, 224, 227, 1, 0, 0, 0, 225, 223, 1, 0, 0, 0, 225,
		226, 1, 0, 0, 0, 226, 228, 1, 0, 0, 0, 227, 225, 1, 0, 0, 0, 228, 229,
		5, 77, 0, 0, 229, 31, 1, 0, 0, 0, 230, 287, 5, 80, 0, 0, 231, 287, 3, 30,
		15, 0, 232, 233, 5, 15, 0, 0, 233, 234, 5, 74, 0, 0, 234, 235, 3, 48, 24,
		0, 235, 236, 5, 75, 0, 0, 236, 237, 3, 32, 16, 0, 237, 287, 1, 0, 0, 0,
		238, 239, 5, 16, 0, 0, 239, 287, 3, 32, 16, 0, 240, 241, 5, 23, 0, 0, 241,
		242, 5, 74, 0, 0, 242, 243, 3, 48, 24, 0, 243, 244, 5, 75, 0, 0, 244, 245,
		3, 32, 16, 0, 245, 287, 1, 0, 0, 0, 246, 247, 5, 17, 0, 0, 247, 249, 5,
		74, 0, 0, 248, 250, 3, 48, 24, 0, 249, 248, 1, 0, 0, 0, 249, 250, 1, 0,
		0, 0, 250, 251, 1, 0, 0, 0, 251, 253, 5, 80, 0, 0, 252, 254, 3, 48, 24,
		0, 253, 252, 1, 0, 0, 0, 253, 254, 1, 0, 0, 0, 254, 255, 1, 0, 0, 0, 255,
		257, 5, 80, 0, 0, 256, 258, 3, 48, 24, 0, 257, 256, 1, 0, 0, 0, 257, 258,
		1, 0, 0, 0, 258, 259, 1, 0, 0, 0, 259, 260, 5, 75, 0, 0, 260, 287, 3, 32,
		16, 0, 261, 262, 5, 18, 0, 0, 262, 263, 5, 74, 0, 0, 263, 264, 3, 34, 17,
		0, 264, 265, 5, 75, 0, 0, 265, 266, 3, 32, 16, 0, 266, 287, 1, 0, 0, 0,
		267, 268, 5, 29, 0, 0, 268, 269, 3, 30, 15, 0, 269, 273, 5, 30, 0, 0, 270,
		271, 5, 74, 0, 0, 271, 272, 5, 35, 0, 0, 272, 274, 5, 75, 0, 0, 273, 270,
		1, 0, 0, 0, 273, 274, 1, 0, 0, 0, 274, 275, 1, 0, 0, 0, 275, 276, 3, 30,
		15, 0, 276, 287, 1, 0, 0, 0, 277, 287, 5, 2, 0, 0, 278, 279, 5, 21, 0,
		0, 279, 287, 3, 48, 24, 0, 280, 281, 5, 22, 0, 0, 281, 287, 3, 48, 24,
		0, 282, 287, 5, 26, 0, 0, 283, 287, 5, 24, 0, 0, 284, 287, 5, 25, 0, 0,
		285, 287, 3, 48, 24, 0, 286, 230, 1, 0, 0, 0, 286, 231, 1, 0, 0, 0, 286,
		232, 1, 0, 0, 0, 286, 238, 1, 0, 0, 0, 286, 240, 1, 0, 0, 0, 286, 246,
		1, 0, 0, 0, 286, 261, 1, 0, 0, 0, 286, 267, 1, 0, 0, 0, 286, 277, 1, 0,
		0, 0, 286, 278, 1, 0, 0, 0, 286, 280, 1, 0, 0, 0, 286, 282, 1, 0, 0, 0,
		286, 283, 1, 0, 0, 0, 286, 284, 1, 0, 0, 0, 286, 285, 1, 0, 0, 0, 287,
		33, 1, 0, 0, 0, 288, 289, 3, 36, 18, 0, 289, 305, 5, 19, 0, 0, 290, 302,
		3, 44, 22, 0, 291, 292, 5, 78, 0, 0, 292, 297, 3, 58, 29, 0, 293, 294,
		5, 81, 0, 0, 294, 296, 3, 58, 29, 0, 295, 293, 1, 0, 0, 0, 296, 299, 1,
		0, 0, 0, 297, 295, 1, 0, 0, 0, 297, 298, 1, 0, 0, 0, 298, 300, 1, 0, 0,
		0, 299, 297, 1, 0, 0, 0, 300, 301, 5, 79, 0, 0, 301, 303, 1, 0, 0, 0, 302,
		291, 1, 0, 0, 0, 302, 303, 1, 0, 0, 0, 303, 306, 1, 0, 0, 0, 304, 306,
		3, 46, 23, 0, 305, 290, 1, 0, 0, 0, 305, 304, 1, 0, 0, 0, 306, 308, 1,
		0, 0, 0, 307, 309, 5, 32, 0, 0, 308, 307, 1, 0, 0, 0, 308, 309, 1, 0, 0,
		0, 309, 311, 1, 0, 0, 0, 310, 312, 3, 42, 21, 0, 311, 310, 1, 0, 0, 0,
		311, 312, 1, 0, 0, 0, 312, 315, 1, 0, 0, 0, 313, 314, 5, 20, 0, 0, 314,
		316, 3, 48, 24, 0, 315, 313, 1, 0, 0, 0, 315, 316, 1, 0, 0, 0, 316, 35,
		1, 0, 0, 0, 317, 323, 3, 40, 20, 0, 318, 321, 5, 87, 0, 0, 319, 322, 3,
		38, 19, 0, 320, 322, 3, 40, 20, 0, 321, 319, 1, 0, 0, 0, 321, 320, 1, 0,
		0, 0, 322, 324, 1, 0, 0, 0, 323, 318, 1, 0, 0, 0, 323, 324, 1, 0, 0, 0,
		324, 327, 1, 0, 0, 0, 325, 327, 3, 38, 19, 0, 326, 317, 1, 0, 0, 0, 326,
		325, 1, 0, 0, 0, 327, 37, 1, 0, 0, 0, 328, 329, 5, 8, 0, 0, 329, 334, 3,
		40, 20, 0, 330, 331, 5, 81, 0, 0, 331, 333, 3, 40, 20, 0, 332, 330, 1,
		0, 0, 0, 333, 336, 1, 0, 0, 0, 334, 332, 1, 0, 0, 0, 334, 335, 1, 0, 0,
		0, 335, 337, 1, 0, 0, 0, 336, 334, 1, 0, 0, 0, 337, 338, 5, 79, 0, 0, 338,
		39, 1, 0, 0, 0, 339, 341, 5, 35, 0, 0, 340, 342, 3, 42, 21, 0, 341, 340,
		1, 0, 0, 0, 341, 342, 1, 0, 0, 0, 342, 41, 1, 0, 0, 0, 343, 344, 7, 6,
		0, 0, 344, 43, 1, 0, 0, 0, 345, 348, 5, 35, 0, 0, 346, 348, 3, 56, 28,
		0, 347, 345, 1, 0, 0, 0, 347, 346, 1, 0, 0, 0, 348, 45, 1, 0, 0, 0, 349,
		353, 5, 33, 0, 0, 350, 352, 3, 60, 30, 0, 351, 350, 1, 0, 0, 0, 352, 355,
		1, 0, 0, 0, 353, 351, 1, 0, 0, 0, 353, 354, 1, 0, 0, 0, 354, 47, 1, 0,
		0, 0, 355, 353, 1, 0, 0, 0, 356, 367, 3, 52, 26, 0, 357, 358, 3, 50, 25,
		0, 358, 359, 3, 52, 26, 0, 359, 366, 1, 0, 0, 0, 360, 361, 5, 83, 0, 0,
		361, 362, 3, 48, 24, 0, 362, 363, 5, 84, 0, 0, 363, 364, 3, 52, 26, 0,
		364, 366, 1, 0, 0, 0, 365, 357, 1, 0, 0, 0, 365, 360, 1, 0, 0, 0, 366,
		369, 1, 0, 0, 0, 367, 365, 1, 0, 0, 0, 367, 368, 1, 0, 0, 0, 368, 49, 1,
		0, 0, 0, 369, 367, 1, 0, 0, 0, 370, 371, 7, 7, 0, 0, 371, 51, 1, 0, 0,
		0, 372, 374, 7, 8, 0, 0, 373, 372, 1, 0, 0, 0, 374, 377, 1, 0, 0, 0, 375,
		373, 1, 0, 0, 0, 375, 376, 1, 0, 0, 0, 376, 378, 1, 0, 0, 0, 377, 375,
		1, 0, 0, 0, 378, 382, 3, 54, 27, 0, 379, 381, 3, 60, 30, 0, 380, 379, 1,
		0, 0, 0, 381, 384, 1, 0, 0, 0, 382, 380, 1, 0, 0, 0, 382, 383, 1, 0, 0,
		0, 383, 386, 1, 0, 0, 0, 384, 382, 1, 0, 0, 0, 385, 387, 7, 9, 0, 0, 386,
		385, 1, 0, 0, 0, 386, 387, 1, 0, 0, 0, 387, 53, 1, 0, 0, 0, 388, 389, 5,
		74, 0, 0, 389, 390, 3, 48, 24, 0, 390, 391, 5, 75, 0, 0, 391, 416, 1, 0,
		0, 0, 392, 416, 3, 56, 28, 0, 393, 394, 5, 8, 0, 0, 394, 399, 3, 58, 29,
		0, 395, 396, 5, 81, 0, 0, 396, 398, 3, 58, 29, 0, 397, 395, 1, 0, 0, 0,
		398, 401, 1, 0, 0, 0, 399, 397, 1, 0, 0, 0, 399, 400, 1, 0, 0, 0, 400,
		402, 1, 0, 0, 0, 401, 399, 1, 0, 0, 0, 402, 403, 5, 79, 0, 0, 403, 416,
		1, 0, 0, 0, 404, 416, 5, 35, 0, 0, 405, 416, 5, 33, 0, 0, 406, 416, 5,
		38, 0, 0, 407, 416, 5, 36, 0, 0, 408, 412, 5, 37, 0, 0, 409, 411, 5, 9,
		0, 0, 410, 409, 1, 0, 0, 0, 411, 414, 1, 0, 0, 0, 412, 410, 1, 0, 0, 0,
		412, 413, 1, 0, 0, 0, 413, 416, 1, 0, 0, 0, 414, 412, 1, 0, 0, 0, 415,
		388, 1, 0, 0, 0, 415, 392, 1, 0, 0, 0, 415, 393, 1, 0, 0, 0, 415, 404,
		1, 0, 0, 0, 415, 405, 1, 0, 0, 0, 415, 406, 1, 0, 0, 0, 415, 407, 1, 0,
		0, 0, 415, 408, 1, 0, 0, 0, 416, 55, 1, 0, 0, 0, 417, 418, 5, 1, 0, 0,
		418, 427, 5, 74, 0, 0, 419, 424, 3, 58, 29, 0, 420, 421, 5, 81, 0, 0, 421,
		423, 3, 58, 29, 0, 422, 420, 1, 0, 0, 0, 423, 426, 1, 0, 0, 0, 424, 422,
		1, 0, 0, 0, 424, 425, 1, 0, 0, 0, 425, 428, 1, 0, 0, 0, 426, 424, 1, 0,
		0, 0, 427, 419, 1, 0, 0, 0, 427, 428, 1, 0, 0, 0, 428, 429, 1, 0, 0, 0,
		429, 430, 5, 75, 0, 0, 430, 57, 1, 0, 0, 0, 431, 434, 5, 90, 0, 0, 432,
		434, 3, 48, 24, 0, 433, 431, 1, 0, 0, 0, 433, 432, 1, 0, 0, 0, 434, 59,
		1, 0, 0, 0, 435, 454, 5, 78, 0, 0, 436, 441, 3, 58, 29, 0, 437, 438, 5,
		81, 0, 0, 438, 440, 3, 58, 29, 0, 439, 437, 1, 0, 0, 0, 440, 443, 1, 0,
		0, 0, 441, 439, 1, 0, 0, 0, 441, 442, 1, 0, 0, 0, 442, 448, 1, 0, 0, 0,
		443, 441, 1, 0, 0, 0, 444, 446, 5, 84, 0, 0, 445, 447, 3, 48, 24, 0, 446,
		445, 1, 0, 0, 0, 446, 447, 1, 0, 0, 0, 447, 449, 1, 0, 0, 0, 448, 444,
		1, 0, 0, 0, 448, 449, 1, 0, 0, 0, 449, 455, 1, 0, 0, 0, 450, 452, 5, 84,
		0, 0, 451, 453, 3, 48, 24, 0, 452, 451, 1, 0, 0, 0, 452, 453, 1, 0, 0,
		0, 453, 455, 1, 0, 0, 0, 454, 436, 1, 0, 0, 0, 454, 450, 1, 0, 0, 0, 455,
		456, 1, 0, 0, 0, 456, 462, 5, 79, 0, 0, 457, 462, 5, 10, 0, 0, 458, 459,
		5, 71, 0, 0, 459, 462, 7, 10, 0, 0, 460, 462, 5, 34, 0, 0, 461, 435, 1,
		0, 0, 0, 461, 457, 1, 0, 0, 0, 461, 458, 1, 0, 0, 0, 461, 460, 1, 0, 0,
		0, 462, 61, 1, 0, 0, 0, 62, 71, 78, 86, 92, 99, 110, 114, 121, 126, 132,
		138, 147, 151, 155, 161, 165, 170, 179, 187, 190, 195, 199, 204, 209, 216,
		219, 225, 249, 253, 257, 273, 286, 297, 302, 305, 308, 311, 315, 321, 323,
		326, 334, 341, 347, 353, 365, 367, 375, 382, 386, 399, 412, 415, 424, 427,
		433, 441, 446, 448, 452, 454, 461,
	}
	deserializer := antlr.NewATNDeserializer(nil)
	staticData.atn = deserializer.Deserialize(staticData.serializedATN)
	atn := staticData.atn
	staticData.decisionToDFA = make([]*antlr.DFA, len(atn.DecisionToState))
	decisionToDFA := staticData.decisionToDFA
	for index, state := range atn.DecisionToState {
		decisionToDFA[index] = antlr.NewDFA(state, index)
	}
}

// StapParserInit initializes any static state used to implement StapParser. By default the
// static state used to implement the parser is lazily initialized during the first call to
// NewStapParser(). You can call this function if you wish to initialize the static state ahead
// of time.
func StapParserInit() {
	staticData := &StapParserParserStaticData
	staticData.once.Do(stapparserParserInit)
}

// NewStapParser produces a new parser instance for the optional input antlr.TokenStream.
func NewStapParser(input antlr.TokenStream) *StapParser {
	StapParserInit()
	this := new(StapParser)
	this.BaseParser = antlr.NewBaseParser(input)
	staticData := &StapParserParserStaticData
	this.Interpreter = antlr.NewParserATNSimulator(this, staticData.atn, staticData.decisionToDFA, staticData.PredictionContextCache)
	this.RuleNames = staticData.RuleNames
	this.LiteralNames = staticData.LiteralNames
	this.SymbolicNames = staticData.SymbolicNames
	this.GrammarFileName = "StapParser.g4"

	return this
}

// StapParser tokens.
const (
	StapParserEOF           = antlr.TokenEOF
	StapParserFUNC_NAME     = 1
	StapParserRETURN_VOID   = 2
	StapParserU_MINUS       = 3
	StapParserU_PLUS        = 4
	StapParserADDR          = 5
	StapParserPRE_INC       = 6
	StapParserPRE_DEC       = 7
	StapParserLIST_OPEN     = 8
	StapParserSTRING_MORE   = 9
	StapParserASSERTION     = 10
	StapParserPROBE         = 11
	StapParserGLOBAL        = 12
	StapParserPRIVATE       = 13
	StapParserFUNCTION      = 14
	StapParserIF            = 15
	StapParserELSE          = 16
	StapParserFOR           = 17
	StapParserFOREACH       = 18
	StapParserIN            = 19
	StapParserLIMIT         = 20
	StapParserRETURN        = 21
	StapParserDELETE        = 22
	StapParserWHILE         = 23
	StapParserBREAK         = 24
	StapParserCONTINUE      = 25
	StapParserNEXT          = 26
	StapParserSTRING_T      = 27
	StapParserLONG_T        = 28
	StapParserTRY           = 29
	StapParserCATCH         = 30
	StapParserARG           = 31
	StapParserATWORD        = 32
	StapParserTARGET        = 33
	StapParserDOLLARS       = 34
	StapParserID            = 35
	StapParserNUMBER        = 36
	StapParserSTRING        = 37
	StapParserEMBEDDED      = 38
	StapParserOPEN_STRING   = 39
	StapParserOPEN_EMBEDDED = 40
	StapParserOPEN_COMMENT  = 41
	StapParserCOMMENT       = 42
	StapParserWS            = 43
	StapParserPP_IF         = 44
	StapParserPP_THEN       = 45
	StapParserPP_ELSE       = 46
	StapParserPP_END        = 47
	StapParserSHR3          = 48
	StapParserAGG           = 49
	StapParserSHL_A         = 50
	StapParserSHR_A         = 51
	StapParserEQ            = 52
	StapParserNE            = 53
	StapParserLE            = 54
	StapParserGE            = 55
	StapParserMATCH         = 56
	StapParserNMATCH        = 57
	StapParserADD_A         = 58
	StapParserSUB_A         = 59
	StapParserMUL_A         = 60
	StapParserDIV_A         = 61
	StapParserMOD_A         = 62
	StapParserAND_A         = 63
	StapParserXOR_A         = 64
	StapParserOR_A          = 65
	StapParserCAT_A         = 66
	StapParserANDAND        = 67
	StapParserOROR          = 68
	StapParserINC           = 69
	StapParserDEC           = 70
	StapParserARROW         = 71
	StapParserSHL           = 72
	StapParserSHR           = 73
	StapParserLPAREN        = 74
	StapParserRPAREN        = 75
	StapParserLBRACE        = 76
	StapParserRBRACE        = 77
	StapParserLBRACK        = 78
	StapParserRBRACK        = 79
	StapParserSEMI          = 80
	StapParserCOMMA         = 81
	StapParserDOT           = 82
	StapParserQUEST         = 83
	StapParserCOLON         = 84
	StapParserBANG          = 85
	StapParserTILDE         = 86
	StapParserASSIGN        = 87
	StapParserPLUS          = 88
	StapParserMINUS         = 89
	StapParserSTAR          = 90
	StapParserSLASH         = 91
	StapParserMOD           = 92
	StapParserAND           = 93
	StapParserXOR           = 94
	StapParserOR            = 95
	StapParserLT            = 96
	StapParserGT            = 97
	StapParserJUNK          = 98
)

// StapParser rules.
const (
	StapParserRULE_item        = 0
	StapParserRULE_privateItem = 1
	StapParserRULE_probe       = 2
	StapParserRULE_points      = 3
	StapParserRULE_pointList   = 4
	StapParserRULE_point       = 5
	StapParserRULE_comp        = 6
	StapParserRULE_namePart    = 7
	StapParserRULE_globals     = 8
	StapParserRULE_globalVar   = 9
	StapParserRULE_attribute   = 10
	StapParserRULE_function    = 11
	StapParserRULE_param       = 12
	StapParserRULE_type        = 13
	StapParserRULE_literal     = 14
	StapParserRULE_block       = 15
	StapParserRULE_stmt        = 16
	StapParserRULE_foreachHead = 17
	StapParserRULE_foreachKeys = 18
	StapParserRULE_keyList     = 19
	StapParserRULE_key         = 20
	StapParserRULE_sort        = 21
	StapParserRULE_foreachBase = 22
	StapParserRULE_foreachOver = 23
	StapParserRULE_expr        = 24
	StapParserRULE_binop       = 25
	StapParserRULE_unary       = 26
	StapParserRULE_primary     = 27
	StapParserRULE_call        = 28
	StapParserRULE_arg         = 29
	StapParserRULE_suffix      = 30
)

// IItemContext is an interface to support dynamic dispatch.
type IItemContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	Probe() IProbeContext
	GLOBAL() antlr.TerminalNode
	Globals() IGlobalsContext
	PRIVATE() antlr.TerminalNode
	PrivateItem() IPrivateItemContext
	FUNCTION() antlr.TerminalNode
	Function() IFunctionContext
	EMBEDDED() antlr.TerminalNode
	EOF() antlr.TerminalNode

	// IsItemContext differentiates from other interfaces.
	IsItemContext()
}

type ItemContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyItemContext() *ItemContext {
	var p = new(ItemContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_item
	return p
}

func InitEmptyItemContext(p *ItemContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_item
}

func (*ItemContext) IsItemContext() {}

func NewItemContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ItemContext {
	var p = new(ItemContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_item

	return p
}

func (s *ItemContext) GetParser() antlr.Parser { return s.parser }

func (s *ItemContext) Probe() IProbeContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IProbeContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IProbeContext)
}

func (s *ItemContext) GLOBAL() antlr.TerminalNode {
	return s.GetToken(StapParserGLOBAL, 0)
}

func (s *ItemContext) Globals() IGlobalsContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IGlobalsContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IGlobalsContext)
}

func (s *ItemContext) PRIVATE() antlr.TerminalNode {
	return s.GetToken(StapParserPRIVATE, 0)
}

func (s *ItemContext) PrivateItem() IPrivateItemContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPrivateItemContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPrivateItemContext)
}

func (s *ItemContext) FUNCTION() antlr.TerminalNode {
	return s.GetToken(StapParserFUNCTION, 0)
}

func (s *ItemContext) Function() IFunctionContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IFunctionContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IFunctionContext)
}

func (s *ItemContext) EMBEDDED() antlr.TerminalNode {
	return s.GetToken(StapParserEMBEDDED, 0)
}

func (s *ItemContext) EOF() antlr.TerminalNode {
	return s.GetToken(StapParserEOF, 0)
}

func (s *ItemContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ItemContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Item() (localctx IItemContext) {
	localctx = NewItemContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 0, StapParserRULE_item)
	p.SetState(71)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserPROBE:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(62)
			p.Probe()
		}

	case StapParserGLOBAL:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(63)
			p.Match(StapParserGLOBAL)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(64)
			p.Globals()
		}

	case StapParserPRIVATE:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(65)
			p.Match(StapParserPRIVATE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(66)
			p.PrivateItem()
		}

	case StapParserFUNCTION:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(67)
			p.Match(StapParserFUNCTION)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(68)
			p.Function()
		}

	case StapParserEMBEDDED:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(69)
			p.Match(StapParserEMBEDDED)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserEOF:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(70)
			p.Match(StapParserEOF)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IPrivateItemContext is an interface to support dynamic dispatch.
type IPrivateItemContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	FUNCTION() antlr.TerminalNode
	Function() IFunctionContext
	GLOBAL() antlr.TerminalNode
	Globals() IGlobalsContext

	// IsPrivateItemContext differentiates from other interfaces.
	IsPrivateItemContext()
}

type PrivateItemContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyPrivateItemContext() *PrivateItemContext {
	var p = new(PrivateItemContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_privateItem
	return p
}

func InitEmptyPrivateItemContext(p *PrivateItemContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_privateItem
}

func (*PrivateItemContext) IsPrivateItemContext() {}

func NewPrivateItemContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *PrivateItemContext {
	var p = new(PrivateItemContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_privateItem

	return p
}

func (s *PrivateItemContext) GetParser() antlr.Parser { return s.parser }

func (s *PrivateItemContext) FUNCTION() antlr.TerminalNode {
	return s.GetToken(StapParserFUNCTION, 0)
}

func (s *PrivateItemContext) Function() IFunctionContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IFunctionContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IFunctionContext)
}

func (s *PrivateItemContext) GLOBAL() antlr.TerminalNode {
	return s.GetToken(StapParserGLOBAL, 0)
}

func (s *PrivateItemContext) Globals() IGlobalsContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IGlobalsContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IGlobalsContext)
}

func (s *PrivateItemContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *PrivateItemContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) PrivateItem() (localctx IPrivateItemContext) {
	localctx = NewPrivateItemContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 2, StapParserRULE_privateItem)
	p.SetState(78)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserFUNCTION:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(73)
			p.Match(StapParserFUNCTION)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(74)
			p.Function()
		}

	case StapParserGLOBAL:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(75)
			p.Match(StapParserGLOBAL)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(76)
			p.Globals()
		}

	case StapParserID:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(77)
			p.Globals()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IProbeContext is an interface to support dynamic dispatch.
type IProbeContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	PROBE() antlr.TerminalNode
	AllPoints() []IPointsContext
	Points(i int) IPointsContext
	AllBlock() []IBlockContext
	Block(i int) IBlockContext
	COMMA() antlr.TerminalNode
	AllASSIGN() []antlr.TerminalNode
	ASSIGN(i int) antlr.TerminalNode
	AllADD_A() []antlr.TerminalNode
	ADD_A(i int) antlr.TerminalNode

	// IsProbeContext differentiates from other interfaces.
	IsProbeContext()
}

type ProbeContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyProbeContext() *ProbeContext {
	var p = new(ProbeContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_probe
	return p
}

func InitEmptyProbeContext(p *ProbeContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_probe
}

func (*ProbeContext) IsProbeContext() {}

func NewProbeContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ProbeContext {
	var p = new(ProbeContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_probe

	return p
}

func (s *ProbeContext) GetParser() antlr.Parser { return s.parser }

func (s *ProbeContext) PROBE() antlr.TerminalNode {
	return s.GetToken(StapParserPROBE, 0)
}

func (s *ProbeContext) AllPoints() []IPointsContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IPointsContext); ok {
			len++
		}
	}

	tst := make([]IPointsContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IPointsContext); ok {
			tst[i] = t.(IPointsContext)
			i++
		}
	}

	return tst
}

func (s *ProbeContext) Points(i int) IPointsContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPointsContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPointsContext)
}

func (s *ProbeContext) AllBlock() []IBlockContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IBlockContext); ok {
			len++
		}
	}

	tst := make([]IBlockContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IBlockContext); ok {
			tst[i] = t.(IBlockContext)
			i++
		}
	}

	return tst
}

func (s *ProbeContext) Block(i int) IBlockContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IBlockContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IBlockContext)
}

func (s *ProbeContext) COMMA() antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, 0)
}

func (s *ProbeContext) AllASSIGN() []antlr.TerminalNode {
	return s.GetTokens(StapParserASSIGN)
}

func (s *ProbeContext) ASSIGN(i int) antlr.TerminalNode {
	return s.GetToken(StapParserASSIGN, i)
}

func (s *ProbeContext) AllADD_A() []antlr.TerminalNode {
	return s.GetTokens(StapParserADD_A)
}

func (s *ProbeContext) ADD_A(i int) antlr.TerminalNode {
	return s.GetToken(StapParserADD_A, i)
}

func (s *ProbeContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ProbeContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Probe() (localctx IProbeContext) {
	localctx = NewProbeContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 4, StapParserRULE_probe)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(80)
		p.Match(StapParserPROBE)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(81)
		p.Points()
	}
	p.SetState(86)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserADD_A || _la == StapParserASSIGN {
		{
			p.SetState(82)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserADD_A || _la == StapParserASSIGN) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}
		{
			p.SetState(83)
			p.Points()
		}

		p.SetState(88)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(89)
		p.Block()
	}
	p.SetState(92)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOMMA {
		{
			p.SetState(90)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(91)
			p.Block()
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IPointsContext is an interface to support dynamic dispatch.
type IPointsContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllPoint() []IPointContext
	Point(i int) IPointContext
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode

	// IsPointsContext differentiates from other interfaces.
	IsPointsContext()
}

type PointsContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyPointsContext() *PointsContext {
	var p = new(PointsContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_points
	return p
}

func InitEmptyPointsContext(p *PointsContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_points
}

func (*PointsContext) IsPointsContext() {}

func NewPointsContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *PointsContext {
	var p = new(PointsContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_points

	return p
}

func (s *PointsContext) GetParser() antlr.Parser { return s.parser }

func (s *PointsContext) AllPoint() []IPointContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IPointContext); ok {
			len++
		}
	}

	tst := make([]IPointContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IPointContext); ok {
			tst[i] = t.(IPointContext)
			i++
		}
	}

	return tst
}

func (s *PointsContext) Point(i int) IPointContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPointContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPointContext)
}

func (s *PointsContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *PointsContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *PointsContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *PointsContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Points() (localctx IPointsContext) {
	localctx = NewPointsContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 6, StapParserRULE_points)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(94)
		p.Point()
	}
	p.SetState(99)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(95)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(96)
			p.Point()
		}

		p.SetState(101)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IPointListContext is an interface to support dynamic dispatch.
type IPointListContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	Points() IPointsContext
	EOF() antlr.TerminalNode

	// IsPointListContext differentiates from other interfaces.
	IsPointListContext()
}

type PointListContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyPointListContext() *PointListContext {
	var p = new(PointListContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_pointList
	return p
}

func InitEmptyPointListContext(p *PointListContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_pointList
}

func (*PointListContext) IsPointListContext() {}

func NewPointListContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *PointListContext {
	var p = new(PointListContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_pointList

	return p
}

func (s *PointListContext) GetParser() antlr.Parser { return s.parser }

func (s *PointListContext) Points() IPointsContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPointsContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPointsContext)
}

func (s *PointListContext) EOF() antlr.TerminalNode {
	return s.GetToken(StapParserEOF, 0)
}

func (s *PointListContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *PointListContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) PointList() (localctx IPointListContext) {
	localctx = NewPointListContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 8, StapParserRULE_pointList)
	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(102)
		p.Points()
	}
	{
		p.SetState(103)
		p.Match(StapParserEOF)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IPointContext is an interface to support dynamic dispatch.
type IPointContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllComp() []ICompContext
	Comp(i int) ICompContext
	AllDOT() []antlr.TerminalNode
	DOT(i int) antlr.TerminalNode
	IF() antlr.TerminalNode
	LPAREN() antlr.TerminalNode
	Expr() IExprContext
	RPAREN() antlr.TerminalNode
	QUEST() antlr.TerminalNode
	BANG() antlr.TerminalNode

	// IsPointContext differentiates from other interfaces.
	IsPointContext()
}

type PointContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyPointContext() *PointContext {
	var p = new(PointContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_point
	return p
}

func InitEmptyPointContext(p *PointContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_point
}

func (*PointContext) IsPointContext() {}

func NewPointContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *PointContext {
	var p = new(PointContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_point

	return p
}

func (s *PointContext) GetParser() antlr.Parser { return s.parser }

func (s *PointContext) AllComp() []ICompContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(ICompContext); ok {
			len++
		}
	}

	tst := make([]ICompContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(ICompContext); ok {
			tst[i] = t.(ICompContext)
			i++
		}
	}

	return tst
}

func (s *PointContext) Comp(i int) ICompContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ICompContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(ICompContext)
}

func (s *PointContext) AllDOT() []antlr.TerminalNode {
	return s.GetTokens(StapParserDOT)
}

func (s *PointContext) DOT(i int) antlr.TerminalNode {
	return s.GetToken(StapParserDOT, i)
}

func (s *PointContext) IF() antlr.TerminalNode {
	return s.GetToken(StapParserIF, 0)
}

func (s *PointContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *PointContext) Expr() IExprContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *PointContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *PointContext) QUEST() antlr.TerminalNode {
	return s.GetToken(StapParserQUEST, 0)
}

func (s *PointContext) BANG() antlr.TerminalNode {
	return s.GetToken(StapParserBANG, 0)
}

func (s *PointContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *PointContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Point() (localctx IPointContext) {
	localctx = NewPointContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 10, StapParserRULE_point)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(105)
		p.Comp()
	}
	p.SetState(110)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserDOT {
		{
			p.SetState(106)
			p.Match(StapParserDOT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(107)
			p.Comp()
		}

		p.SetState(112)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(114)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserQUEST || _la == StapParserBANG {
		{
			p.SetState(113)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserQUEST || _la == StapParserBANG) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

	}
	p.SetState(121)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserIF {
		{
			p.SetState(116)
			p.Match(StapParserIF)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(117)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(118)
			p.Expr()
		}
		{
			p.SetState(119)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ICompContext is an interface to support dynamic dispatch.
type ICompContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllNamePart() []INamePartContext
	NamePart(i int) INamePartContext
	LPAREN() antlr.TerminalNode
	Literal() ILiteralContext
	RPAREN() antlr.TerminalNode
	LBRACE() antlr.TerminalNode
	Points() IPointsContext
	RBRACE() antlr.TerminalNode

	// IsCompContext differentiates from other interfaces.
	IsCompContext()
}

type CompContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyCompContext() *CompContext {
	var p = new(CompContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_comp
	return p
}

func InitEmptyCompContext(p *CompContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_comp
}

func (*CompContext) IsCompContext() {}

func NewCompContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *CompContext {
	var p = new(CompContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_comp

	return p
}

func (s *CompContext) GetParser() antlr.Parser { return s.parser }

func (s *CompContext) AllNamePart() []INamePartContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(INamePartContext); ok {
			len++
		}
	}

	tst := make([]INamePartContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(INamePartContext); ok {
			tst[i] = t.(INamePartContext)
			i++
		}
	}

	return tst
}

func (s *CompContext) NamePart(i int) INamePartContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(INamePartContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(INamePartContext)
}

func (s *CompContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *CompContext) Literal() ILiteralContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ILiteralContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ILiteralContext)
}

func (s *CompContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *CompContext) LBRACE() antlr.TerminalNode {
	return s.GetToken(StapParserLBRACE, 0)
}

func (s *CompContext) Points() IPointsContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPointsContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPointsContext)
}

func (s *CompContext) RBRACE() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACE, 0)
}

func (s *CompContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *CompContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Comp() (localctx ICompContext) {
	localctx = NewCompContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 12, StapParserRULE_comp)
	p.Enter()
	var _la int

	p.SetState(138)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserFUNC_NAME, StapParserID, StapParserNUMBER, StapParserSTAR:
		p.EnterOuterAlt(localctx, 1)
		p.SetState(124)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for ok := true; ok; ok = ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&103079215106) != 0) || _la == StapParserSTAR {
			{
				p.SetState(123)
				p.NamePart()
			}

			p.SetState(126)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		p.SetState(132)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserLPAREN {
			{
				p.SetState(128)
				p.Match(StapParserLPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(129)
				p.Literal()
			}
			{
				p.SetState(130)
				p.Match(StapParserRPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

		}

	case StapParserLBRACE:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(134)
			p.Match(StapParserLBRACE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(135)
			p.Points()
		}
		{
			p.SetState(136)
			p.Match(StapParserRBRACE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

	p.GetParserRuleContext().SetStop(p.GetTokenStream().LT(-1))

	p.Leave()

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// INamePartContext is an interface to support dynamic dispatch.
type INamePartContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	FUNC_NAME() antlr.TerminalNode
	STAR() antlr.TerminalNode
	NUMBER() antlr.TerminalNode

	// IsNamePartContext differentiates from other interfaces.
	IsNamePartContext()
}

type NamePartContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyNamePartContext() *NamePartContext {
	var p = new(NamePartContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_namePart
	return p
}

func InitEmptyNamePartContext(p *NamePartContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_namePart
}

func (*NamePartContext) IsNamePartContext() {}

func NewNamePartContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *NamePartContext {
	var p = new(NamePartContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_namePart

	return p
}

func (s *NamePartContext) GetParser() antlr.Parser { return s.parser }

func (s *NamePartContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *NamePartContext) FUNC_NAME() antlr.TerminalNode {
	return s.GetToken(StapParserFUNC_NAME, 0)
}

func (s *NamePartContext) STAR() antlr.TerminalNode {
	return s.GetToken(StapParserSTAR, 0)
}

func (s *NamePartContext) NUMBER() antlr.TerminalNode {
	return s.GetToken(StapParserNUMBER, 0)
}

func (s *NamePartContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *NamePartContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) NamePart() (localctx INamePartContext) {
	localctx = NewNamePartContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 14, StapParserRULE_namePart)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(140)
		_la = p.GetTokenStream().LA(1)

		if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&103079215106) != 0) || _la == StapParserSTAR) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}

	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IGlobalsContext is an interface to support dynamic dispatch.
type IGlobalsContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllGlobalVar() []IGlobalVarContext
	GlobalVar(i int) IGlobalVarContext
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode
	SEMI() antlr.TerminalNode

	// IsGlobalsContext differentiates from other interfaces.
	IsGlobalsContext()
}

type GlobalsContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyGlobalsContext() *GlobalsContext {
	var p = new(GlobalsContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_globals
	return p
}

func InitEmptyGlobalsContext(p *GlobalsContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_globals
}

func (*GlobalsContext) IsGlobalsContext() {}

func NewGlobalsContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *GlobalsContext {
	var p = new(GlobalsContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_globals

	return p
}

func (s *GlobalsContext) GetParser() antlr.Parser { return s.parser }

func (s *GlobalsContext) AllGlobalVar() []IGlobalVarContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IGlobalVarContext); ok {
			len++
		}
	}

	tst := make([]IGlobalVarContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IGlobalVarContext); ok {
			tst[i] = t.(IGlobalVarContext)
			i++
		}
	}

	return tst
}

func (s *GlobalsContext) GlobalVar(i int) IGlobalVarContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IGlobalVarContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IGlobalVarContext)
}

func (s *GlobalsContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *GlobalsContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *GlobalsContext) SEMI() antlr.TerminalNode {
	return s.GetToken(StapParserSEMI, 0)
}

func (s *GlobalsContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *GlobalsContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Globals() (localctx IGlobalsContext) {
	localctx = NewGlobalsContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 16, StapParserRULE_globals)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(142)
		p.GlobalVar()
	}
	p.SetState(147)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(143)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(144)
			p.GlobalVar()
		}

		p.SetState(149)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(151)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserSEMI {
		{
			p.SetState(150)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IGlobalVarContext is an interface to support dynamic dispatch.
type IGlobalVarContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	MOD() antlr.TerminalNode
	AllLiteral() []ILiteralContext
	Literal(i int) ILiteralContext
	RBRACK() antlr.TerminalNode
	ASSIGN() antlr.TerminalNode
	AllAttribute() []IAttributeContext
	Attribute(i int) IAttributeContext
	LBRACK() antlr.TerminalNode
	LIST_OPEN() antlr.TerminalNode

	// IsGlobalVarContext differentiates from other interfaces.
	IsGlobalVarContext()
}

type GlobalVarContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyGlobalVarContext() *GlobalVarContext {
	var p = new(GlobalVarContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_globalVar
	return p
}

func InitEmptyGlobalVarContext(p *GlobalVarContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_globalVar
}

func (*GlobalVarContext) IsGlobalVarContext() {}

func NewGlobalVarContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *GlobalVarContext {
	var p = new(GlobalVarContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_globalVar

	return p
}

func (s *GlobalVarContext) GetParser() antlr.Parser { return s.parser }

func (s *GlobalVarContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *GlobalVarContext) MOD() antlr.TerminalNode {
	return s.GetToken(StapParserMOD, 0)
}

func (s *GlobalVarContext) AllLiteral() []ILiteralContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(ILiteralContext); ok {
			len++
		}
	}

	tst := make([]ILiteralContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(ILiteralContext); ok {
			tst[i] = t.(ILiteralContext)
			i++
		}
	}

	return tst
}

func (s *GlobalVarContext) Literal(i int) ILiteralContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ILiteralContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(ILiteralContext)
}

func (s *GlobalVarContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *GlobalVarContext) ASSIGN() antlr.TerminalNode {
	return s.GetToken(StapParserASSIGN, 0)
}

func (s *GlobalVarContext) AllAttribute() []IAttributeContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IAttributeContext); ok {
			len++
		}
	}

	tst := make([]IAttributeContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IAttributeContext); ok {
			tst[i] = t.(IAttributeContext)
			i++
		}
	}

	return tst
}

func (s *GlobalVarContext) Attribute(i int) IAttributeContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IAttributeContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IAttributeContext)
}

func (s *GlobalVarContext) LBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserLBRACK, 0)
}

func (s *GlobalVarContext) LIST_OPEN() antlr.TerminalNode {
	return s.GetToken(StapParserLIST_OPEN, 0)
}

func (s *GlobalVarContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *GlobalVarContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) GlobalVar() (localctx IGlobalVarContext) {
	localctx = NewGlobalVarContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 18, StapParserRULE_globalVar)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(153)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(155)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserMOD {
		{
			p.SetState(154)
			p.Match(StapParserMOD)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(161)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserLIST_OPEN || _la == StapParserLBRACK {
		{
			p.SetState(157)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserLIST_OPEN || _la == StapParserLBRACK) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}
		{
			p.SetState(158)
			p.Literal()
		}
		{
			p.SetState(159)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(165)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserASSIGN {
		{
			p.SetState(163)
			p.Match(StapParserASSIGN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(164)
			p.Literal()
		}

	}
	p.SetState(170)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserID {
		{
			p.SetState(167)
			p.Attribute()
		}

		p.SetState(172)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IAttributeContext is an interface to support dynamic dispatch.
type IAttributeContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	Literal() ILiteralContext

	// IsAttributeContext differentiates from other interfaces.
	IsAttributeContext()
}

type AttributeContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyAttributeContext() *AttributeContext {
	var p = new(AttributeContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_attribute
	return p
}

func InitEmptyAttributeContext(p *AttributeContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_attribute
}

func (*AttributeContext) IsAttributeContext() {}

func NewAttributeContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *AttributeContext {
	var p = new(AttributeContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_attribute

	return p
}

func (s *AttributeContext) GetParser() antlr.Parser { return s.parser }

func (s *AttributeContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *AttributeContext) Literal() ILiteralContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ILiteralContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ILiteralContext)
}

func (s *AttributeContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *AttributeContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Attribute() (localctx IAttributeContext) {
	localctx = NewAttributeContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 20, StapParserRULE_attribute)
	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(173)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(174)
		p.Literal()
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IFunctionContext is an interface to support dynamic dispatch.
type IFunctionContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	LPAREN() antlr.TerminalNode
	RPAREN() antlr.TerminalNode
	FUNC_NAME() antlr.TerminalNode
	ID() antlr.TerminalNode
	STRING_T() antlr.TerminalNode
	LONG_T() antlr.TerminalNode
	Block() IBlockContext
	EMBEDDED() antlr.TerminalNode
	AllCOLON() []antlr.TerminalNode
	COLON(i int) antlr.TerminalNode
	Type_() ITypeContext
	AllParam() []IParamContext
	Param(i int) IParamContext
	Literal() ILiteralContext
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode

	// IsFunctionContext differentiates from other interfaces.
	IsFunctionContext()
}

type FunctionContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyFunctionContext() *FunctionContext {
	var p = new(FunctionContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_function
	return p
}

func InitEmptyFunctionContext(p *FunctionContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_function
}

func (*FunctionContext) IsFunctionContext() {}

func NewFunctionContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *FunctionContext {
	var p = new(FunctionContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_function

	return p
}

func (s *FunctionContext) GetParser() antlr.Parser { return s.parser }

func (s *FunctionContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *FunctionContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *FunctionContext) FUNC_NAME() antlr.TerminalNode {
	return s.GetToken(StapParserFUNC_NAME, 0)
}

func (s *FunctionContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *FunctionContext) STRING_T() antlr.TerminalNode {
	return s.GetToken(StapParserSTRING_T, 0)
}

func (s *FunctionContext) LONG_T() antlr.TerminalNode {
	return s.GetToken(StapParserLONG_T, 0)
}

func (s *FunctionContext) Block() IBlockContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IBlockContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IBlockContext)
}

func (s *FunctionContext) EMBEDDED() antlr.TerminalNode {
	return s.GetToken(StapParserEMBEDDED, 0)
}

func (s *FunctionContext) AllCOLON() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOLON)
}

func (s *FunctionContext) COLON(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOLON, i)
}

func (s *FunctionContext) Type_() ITypeContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ITypeContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ITypeContext)
}

func (s *FunctionContext) AllParam() []IParamContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IParamContext); ok {
			len++
		}
	}

	tst := make([]IParamContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IParamContext); ok {
			tst[i] = t.(IParamContext)
			i++
		}
	}

	return tst
}

func (s *FunctionContext) Param(i int) IParamContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IParamContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IParamContext)
}

func (s *FunctionContext) Literal() ILiteralContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ILiteralContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ILiteralContext)
}

func (s *FunctionContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *FunctionContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *FunctionContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *FunctionContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Function() (localctx IFunctionContext) {
	localctx = NewFunctionContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 22, StapParserRULE_function)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(176)
		_la = p.GetTokenStream().LA(1)

		if !((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&34762391554) != 0) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}
	p.SetState(179)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(177)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(178)
			p.Type_()
		}

	}
	{
		p.SetState(181)
		p.Match(StapParserLPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(190)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserID {
		{
			p.SetState(182)
			p.Param()
		}
		p.SetState(187)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(183)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(184)
				p.Param()
			}

			p.SetState(189)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	}
	{
		p.SetState(192)
		p.Match(StapParserRPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(195)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(193)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(194)
			p.Literal()
		}

	}
	p.SetState(199)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLBRACE:
		{
			p.SetState(197)
			p.Block()
		}

	case StapParserEMBEDDED:
		{
			p.SetState(198)
			p.Match(StapParserEMBEDDED)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IParamContext is an interface to support dynamic dispatch.
type IParamContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	COLON() antlr.TerminalNode
	Type_() ITypeContext

	// IsParamContext differentiates from other interfaces.
	IsParamContext()
}

type ParamContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyParamContext() *ParamContext {
	var p = new(ParamContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_param
	return p
}

func InitEmptyParamContext(p *ParamContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_param
}

func (*ParamContext) IsParamContext() {}

func NewParamContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ParamContext {
	var p = new(ParamContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_param

	return p
}

func (s *ParamContext) GetParser() antlr.Parser { return s.parser }

func (s *ParamContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *ParamContext) COLON() antlr.TerminalNode {
	return s.GetToken(StapParserCOLON, 0)
}

func (s *ParamContext) Type_() ITypeContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ITypeContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ITypeContext)
}

func (s *ParamContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ParamContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Param() (localctx IParamContext) {
	localctx = NewParamContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 24, StapParserRULE_param)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(201)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(204)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(202)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(203)
			p.Type_()
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ITypeContext is an interface to support dynamic dispatch.
type ITypeContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	STRING_T() antlr.TerminalNode
	LONG_T() antlr.TerminalNode

	// IsTypeContext differentiates from other interfaces.
	IsTypeContext()
}

type TypeContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyTypeContext() *TypeContext {
	var p = new(TypeContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_type
	return p
}

func InitEmptyTypeContext(p *TypeContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_type
}

func (*TypeContext) IsTypeContext() {}

func NewTypeContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *TypeContext {
	var p = new(TypeContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_type

	return p
}

func (s *TypeContext) GetParser() antlr.Parser { return s.parser }

func (s *TypeContext) STRING_T() antlr.TerminalNode {
	return s.GetToken(StapParserSTRING_T, 0)
}

func (s *TypeContext) LONG_T() antlr.TerminalNode {
	return s.GetToken(StapParserLONG_T, 0)
}

func (s *TypeContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *TypeContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Type_() (localctx ITypeContext) {
	localctx = NewTypeContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 26, StapParserRULE_type)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(206)
		_la = p.GetTokenStream().LA(1)

		if !(_la == StapParserSTRING_T || _la == StapParserLONG_T) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}

	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ILiteralContext is an interface to support dynamic dispatch.
type ILiteralContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	NUMBER() antlr.TerminalNode
	U_MINUS() antlr.TerminalNode
	STRING() antlr.TerminalNode
	AllSTRING_MORE() []antlr.TerminalNode
	STRING_MORE(i int) antlr.TerminalNode

	// IsLiteralContext differentiates from other interfaces.
	IsLiteralContext()
}

type LiteralContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyLiteralContext() *LiteralContext {
	var p = new(LiteralContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_literal
	return p
}

func InitEmptyLiteralContext(p *LiteralContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_literal
}

func (*LiteralContext) IsLiteralContext() {}

func NewLiteralContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *LiteralContext {
	var p = new(LiteralContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_literal

	return p
}

func (s *LiteralContext) GetParser() antlr.Parser { return s.parser }

func (s *LiteralContext) NUMBER() antlr.TerminalNode {
	return s.GetToken(StapParserNUMBER, 0)
}

func (s *LiteralContext) U_MINUS() antlr.TerminalNode {
	return s.GetToken(StapParserU_MINUS, 0)
}

func (s *LiteralContext) STRING() antlr.TerminalNode {
	return s.GetToken(StapParserSTRING, 0)
}

func (s *LiteralContext) AllSTRING_MORE() []antlr.TerminalNode {
	return s.GetTokens(StapParserSTRING_MORE)
}

func (s *LiteralContext) STRING_MORE(i int) antlr.TerminalNode {
	return s.GetToken(StapParserSTRING_MORE, i)
}

func (s *LiteralContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *LiteralContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Literal() (localctx ILiteralContext) {
	localctx = NewLiteralContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 28, StapParserRULE_literal)
	var _la int

	p.SetState(219)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserU_MINUS, StapParserNUMBER:
		p.EnterOuterAlt(localctx, 1)
		p.SetState(209)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserU_MINUS {
			{
				p.SetState(208)
				p.Match(StapParserU_MINUS)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

		}
		{
			p.SetState(211)
			p.Match(StapParserNUMBER)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserSTRING:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(212)
			p.Match(StapParserSTRING)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(216)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserSTRING_MORE {
			{
				p.SetState(213)
				p.Match(StapParserSTRING_MORE)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

			p.SetState(218)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IBlockContext is an interface to support dynamic dispatch.
type IBlockContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	LBRACE() antlr.TerminalNode
	RBRACE() antlr.TerminalNode
	AllStmt() []IStmtContext
	Stmt(i int) IStmtContext

	// IsBlockContext differentiates from other interfaces.
	IsBlockContext()
}

type BlockContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyBlockContext() *BlockContext {
	var p = new(BlockContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_block
	return p
}

func InitEmptyBlockContext(p *BlockContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_block
}

func (*BlockContext) IsBlockContext() {}

func NewBlockContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *BlockContext {
	var p = new(BlockContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_block

	return p
}

func (s *BlockContext) GetParser() antlr.Parser { return s.parser }

func (s *BlockContext) LBRACE() antlr.TerminalNode {
	return s.GetToken(StapParserLBRACE, 0)
}

func (s *BlockContext) RBRACE() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACE, 0)
}

func (s *BlockContext) AllStmt() []IStmtContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IStmtContext); ok {
			len++
		}
	}

	tst := make([]IStmtContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IStmtContext); ok {
			tst[i] = t.(IStmtContext)
			i++
		}
	}

	return tst
}

func (s *BlockContext) Stmt(i int) IStmtContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IStmtContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IStmtContext)
}

func (s *BlockContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *BlockContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Block() (localctx IBlockContext) {
	localctx = NewBlockContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 30, StapParserRULE_block)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(221)
		p.Match(StapParserLBRACE)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(225)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&524655493630) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6213) != 0) {
		{
			p.SetState(222)
			p.Stmt()
		}

		p.SetState(227)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(228)
		p.Match(StapParserRBRACE)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IStmtContext is an interface to support dynamic dispatch.
type IStmtContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllSEMI() []antlr.TerminalNode
	SEMI(i int) antlr.TerminalNode
	AllBlock() []IBlockContext
	Block(i int) IBlockContext
	IF() antlr.TerminalNode
	LPAREN() antlr.TerminalNode
	AllExpr() []IExprContext
	Expr(i int) IExprContext
	RPAREN() antlr.TerminalNode
	Stmt() IStmtContext
	ELSE() antlr.TerminalNode
	WHILE() antlr.TerminalNode
	FOR() antlr.TerminalNode
	FOREACH() antlr.TerminalNode
	ForeachHead() IForeachHeadContext
	TRY() antlr.TerminalNode
	CATCH() antlr.TerminalNode
	ID() antlr.TerminalNode
	RETURN_VOID() antlr.TerminalNode
	RETURN() antlr.TerminalNode
	DELETE() antlr.TerminalNode
	NEXT() antlr.TerminalNode
	BREAK() antlr.TerminalNode
	CONTINUE() antlr.TerminalNode

	// IsStmtContext differentiates from other interfaces.
	IsStmtContext()
}

type StmtContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyStmtContext() *StmtContext {
	var p = new(StmtContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_stmt
	return p
}

func InitEmptyStmtContext(p *StmtContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_stmt
}

func (*StmtContext) IsStmtContext() {}

func NewStmtContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *StmtContext {
	var p = new(StmtContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_stmt

	return p
}

func (s *StmtContext) GetParser() antlr.Parser { return s.parser }

func (s *StmtContext) AllSEMI() []antlr.TerminalNode {
	return s.GetTokens(StapParserSEMI)
}

func (s *StmtContext) SEMI(i int) antlr.TerminalNode {
	return s.GetToken(StapParserSEMI, i)
}

func (s *StmtContext) AllBlock() []IBlockContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IBlockContext); ok {
			len++
		}
	}

	tst := make([]IBlockContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IBlockContext); ok {
			tst[i] = t.(IBlockContext)
			i++
		}
	}

	return tst
}

func (s *StmtContext) Block(i int) IBlockContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IBlockContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IBlockContext)
}

func (s *StmtContext) IF() antlr.TerminalNode {
	return s.GetToken(StapParserIF, 0)
}

func (s *StmtContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *StmtContext) AllExpr() []IExprContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IExprContext); ok {
			len++
		}
	}

	tst := make([]IExprContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IExprContext); ok {
			tst[i] = t.(IExprContext)
			i++
		}
	}

	return tst
}

func (s *StmtContext) Expr(i int) IExprContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *StmtContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *StmtContext) Stmt() IStmtContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IStmtContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IStmtContext)
}

func (s *StmtContext) ELSE() antlr.TerminalNode {
	return s.GetToken(StapParserELSE, 0)
}

func (s *StmtContext) WHILE() antlr.TerminalNode {
	return s.GetToken(StapParserWHILE, 0)
}

func (s *StmtContext) FOR() antlr.TerminalNode {
	return s.GetToken(StapParserFOR, 0)
}

func (s *StmtContext) FOREACH() antlr.TerminalNode {
	return s.GetToken(StapParserFOREACH, 0)
}

func (s *StmtContext) ForeachHead() IForeachHeadContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IForeachHeadContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IForeachHeadContext)
}

func (s *StmtContext) TRY() antlr.TerminalNode {
	return s.GetToken(StapParserTRY, 0)
}

func (s *StmtContext) CATCH() antlr.TerminalNode {
	return s.GetToken(StapParserCATCH, 0)
}

func (s *StmtContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *StmtContext) RETURN_VOID() antlr.TerminalNode {
	return s.GetToken(StapParserRETURN_VOID, 0)
}

func (s *StmtContext) RETURN() antlr.TerminalNode {
	return s.GetToken(StapParserRETURN, 0)
}

func (s *StmtContext) DELETE() antlr.TerminalNode {
	return s.GetToken(StapParserDELETE, 0)
}

func (s *StmtContext) NEXT() antlr.TerminalNode {
	return s.GetToken(StapParserNEXT, 0)
}

func (s *StmtContext) BREAK() antlr.TerminalNode {
	return s.GetToken(StapParserBREAK, 0)
}

func (s *StmtContext) CONTINUE() antlr.TerminalNode {
	return s.GetToken(StapParserCONTINUE, 0)
}

func (s *StmtContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *StmtContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Stmt() (localctx IStmtContext) {
	localctx = NewStmtContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 32, StapParserRULE_stmt)
	p.Enter()
	var _la int

	p.SetState(286)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserSEMI:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(230)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserLBRACE:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(231)
			p.Block()
		}

	case StapParserIF:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(232)
			p.Match(StapParserIF)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(233)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(234)
			p.Expr()
		}
		{
			p.SetState(235)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(236)
			p.Stmt()
		}

	case StapParserELSE:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(238)
			p.Match(StapParserELSE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(239)
			p.Stmt()
		}

	case StapParserWHILE:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(240)
			p.Match(StapParserWHILE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(241)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(242)
			p.Expr()
		}
		{
			p.SetState(243)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(244)
			p.Stmt()
		}

	case StapParserFOR:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(246)
			p.Match(StapParserFOR)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(247)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(249)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6145) != 0) {
			{
				p.SetState(248)
				p.Expr()
			}

		}
		{
			p.SetState(251)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(253)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6145) != 0) {
			{
				p.SetState(252)
				p.Expr()
			}

		}
		{
			p.SetState(255)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(257)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6145) != 0) {
			{
				p.SetState(256)
				p.Expr()
			}

		}
		{
			p.SetState(259)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(260)
			p.Stmt()
		}

	case StapParserFOREACH:
		p.EnterOuterAlt(localctx, 7)
		{
			p.SetState(261)
			p.Match(StapParserFOREACH)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(262)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(263)
			p.ForeachHead()
		}
		{
			p.SetState(264)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(265)
			p.Stmt()
		}

	case StapParserTRY:
		p.EnterOuterAlt(localctx, 8)
		{
			p.SetState(267)
			p.Match(StapParserTRY)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(268)
			p.Block()
		}
		{
			p.SetState(269)
			p.Match(StapParserCATCH)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(273)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserLPAREN {
			{
				p.SetState(270)
				p.Match(StapParserLPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(271)
				p.Match(StapParserID)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(272)
				p.Match(StapParserRPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

		}
		{
			p.SetState(275)
			p.Block()
		}

	case StapParserRETURN_VOID:
		p.EnterOuterAlt(localctx, 9)
		{
			p.SetState(277)
			p.Match(StapParserRETURN_VOID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserRETURN:
		p.EnterOuterAlt(localctx, 10)
		{
			p.SetState(278)
			p.Match(StapParserRETURN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(279)
			p.Expr()
		}

	case StapParserDELETE:
		p.EnterOuterAlt(localctx, 11)
		{
			p.SetState(280)
			p.Match(StapParserDELETE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(281)
			p.Expr()
		}

	case StapParserNEXT:
		p.EnterOuterAlt(localctx, 12)
		{
			p.SetState(282)
			p.Match(StapParserNEXT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserBREAK:
		p.EnterOuterAlt(localctx, 13)
		{
			p.SetState(283)
			p.Match(StapParserBREAK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserCONTINUE:
		p.EnterOuterAlt(localctx, 14)
		{
			p.SetState(284)
			p.Match(StapParserCONTINUE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME, StapParserU_MINUS, StapParserU_PLUS, StapParserADDR, StapParserPRE_INC, StapParserPRE_DEC, StapParserLIST_OPEN, StapParserTARGET, StapParserID, StapParserNUMBER, StapParserSTRING, StapParserEMBEDDED, StapParserLPAREN, StapParserBANG, StapParserTILDE:
		p.EnterOuterAlt(localctx, 15)
		{
			p.SetState(285)
			p.Expr()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

	p.GetParserRuleContext().SetStop(p.GetTokenStream().LT(-1))

	p.Leave()

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IForeachHeadContext is an interface to support dynamic dispatch.
type IForeachHeadContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ForeachKeys() IForeachKeysContext
	IN() antlr.TerminalNode
	ForeachBase() IForeachBaseContext
	ForeachOver() IForeachOverContext
	ATWORD() antlr.TerminalNode
	Sort() ISortContext
	LIMIT() antlr.TerminalNode
	Expr() IExprContext
	LBRACK() antlr.TerminalNode
	AllArg() []IArgContext
	Arg(i int) IArgContext
	RBRACK() antlr.TerminalNode
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode

	// IsForeachHeadContext differentiates from other interfaces.
	IsForeachHeadContext()
}

type ForeachHeadContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyForeachHeadContext() *ForeachHeadContext {
	var p = new(ForeachHeadContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachHead
	return p
}

func InitEmptyForeachHeadContext(p *ForeachHeadContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachHead
}

func (*ForeachHeadContext) IsForeachHeadContext() {}

func NewForeachHeadContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ForeachHeadContext {
	var p = new(ForeachHeadContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_foreachHead

	return p
}

func (s *ForeachHeadContext) GetParser() antlr.Parser { return s.parser }

func (s *ForeachHeadContext) ForeachKeys() IForeachKeysContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IForeachKeysContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IForeachKeysContext)
}

func (s *ForeachHeadContext) IN() antlr.TerminalNode {
	return s.GetToken(StapParserIN, 0)
}

func (s *ForeachHeadContext) ForeachBase() IForeachBaseContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IForeachBaseContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IForeachBaseContext)
}

func (s *ForeachHeadContext) ForeachOver() IForeachOverContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IForeachOverContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IForeachOverContext)
}

func (s *ForeachHeadContext) ATWORD() antlr.TerminalNode {
	return s.GetToken(StapParserATWORD, 0)
}

func (s *ForeachHeadContext) Sort() ISortContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ISortContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ISortContext)
}

func (s *ForeachHeadContext) LIMIT() antlr.TerminalNode {
	return s.GetToken(StapParserLIMIT, 0)
}

func (s *ForeachHeadContext) Expr() IExprContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *ForeachHeadContext) LBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserLBRACK, 0)
}

func (s *ForeachHeadContext) AllArg() []IArgContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IArgContext); ok {
			len++
		}
	}

	tst := make([]IArgContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IArgContext); ok {
			tst[i] = t.(IArgContext)
			i++
		}
	}

	return tst
}

func (s *ForeachHeadContext) Arg(i int) IArgContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IArgContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IArgContext)
}

func (s *ForeachHeadContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *ForeachHeadContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *ForeachHeadContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *ForeachHeadContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ForeachHeadContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) ForeachHead() (localctx IForeachHeadContext) {
	localctx = NewForeachHeadContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 34, StapParserRULE_foreachHead)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(288)
		p.ForeachKeys()
	}
	{
		p.SetState(289)
		p.Match(StapParserIN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(305)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserFUNC_NAME, StapParserID:
		{
			p.SetState(290)
			p.ForeachBase()
		}
		p.SetState(302)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserLBRACK {
			{
				p.SetState(291)
				p.Match(StapParserLBRACK)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(292)
				p.Arg()
			}
			p.SetState(297)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)

			for _la == StapParserCOMMA {
				{
					p.SetState(293)
					p.Match(StapParserCOMMA)
					if p.HasError() {
						// Recognition error - abort rule
						goto errorExit
					}
				}
				{
					p.SetState(294)
					p.Arg()
				}

				p.SetState(299)
				p.GetErrorHandler().Sync(p)
				if p.HasError() {
					goto errorExit
				}
				_la = p.GetTokenStream().LA(1)
			}
			{
				p.SetState(300)
				p.Match(StapParserRBRACK)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

		}

	case StapParserTARGET:
		{
			p.SetState(304)
			p.ForeachOver()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}
	p.SetState(308)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserATWORD {
		{
			p.SetState(307)
			p.Match(StapParserATWORD)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(311)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserPLUS || _la == StapParserMINUS {
		{
			p.SetState(310)
			p.Sort()
		}

	}
	p.SetState(315)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserLIMIT {
		{
			p.SetState(313)
			p.Match(StapParserLIMIT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(314)
			p.Expr()
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IForeachKeysContext is an interface to support dynamic dispatch.
type IForeachKeysContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllKey() []IKeyContext
	Key(i int) IKeyContext
	ASSIGN() antlr.TerminalNode
	KeyList() IKeyListContext

	// IsForeachKeysContext differentiates from other interfaces.
	IsForeachKeysContext()
}

type ForeachKeysContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyForeachKeysContext() *ForeachKeysContext {
	var p = new(ForeachKeysContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachKeys
	return p
}

func InitEmptyForeachKeysContext(p *ForeachKeysContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachKeys
}

func (*ForeachKeysContext) IsForeachKeysContext() {}

func NewForeachKeysContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ForeachKeysContext {
	var p = new(ForeachKeysContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_foreachKeys

	return p
}

func (s *ForeachKeysContext) GetParser() antlr.Parser { return s.parser }

func (s *ForeachKeysContext) AllKey() []IKeyContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IKeyContext); ok {
			len++
		}
	}

	tst := make([]IKeyContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IKeyContext); ok {
			tst[i] = t.(IKeyContext)
			i++
		}
	}

	return tst
}

func (s *ForeachKeysContext) Key(i int) IKeyContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IKeyContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IKeyContext)
}

func (s *ForeachKeysContext) ASSIGN() antlr.TerminalNode {
	return s.GetToken(StapParserASSIGN, 0)
}

func (s *ForeachKeysContext) KeyList() IKeyListContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IKeyListContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IKeyListContext)
}

func (s *ForeachKeysContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ForeachKeysContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) ForeachKeys() (localctx IForeachKeysContext) {
	localctx = NewForeachKeysContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 36, StapParserRULE_foreachKeys)
	var _la int

	p.SetState(326)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserID:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(317)
			p.Key()
		}
		p.SetState(323)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserASSIGN {
			{
				p.SetState(318)
				p.Match(StapParserASSIGN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			p.SetState(321)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}

			switch p.GetTokenStream().LA(1) {
			case StapParserLIST_OPEN:
				{
					p.SetState(319)
					p.KeyList()
				}

			case StapParserID:
				{
					p.SetState(320)
					p.Key()
				}

			default:
				p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
				goto errorExit
			}

		}

	case StapParserLIST_OPEN:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(325)
			p.KeyList()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IKeyListContext is an interface to support dynamic dispatch.
type IKeyListContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	LIST_OPEN() antlr.TerminalNode
	AllKey() []IKeyContext
	Key(i int) IKeyContext
	RBRACK() antlr.TerminalNode
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode

	// IsKeyListContext differentiates from other interfaces.
	IsKeyListContext()
}

type KeyListContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyKeyListContext() *KeyListContext {
	var p = new(KeyListContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_keyList
	return p
}

func InitEmptyKeyListContext(p *KeyListContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_keyList
}

func (*KeyListContext) IsKeyListContext() {}

func NewKeyListContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *KeyListContext {
	var p = new(KeyListContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_keyList

	return p
}

func (s *KeyListContext) GetParser() antlr.Parser { return s.parser }

func (s *KeyListContext) LIST_OPEN() antlr.TerminalNode {
	return s.GetToken(StapParserLIST_OPEN, 0)
}

func (s *KeyListContext) AllKey() []IKeyContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IKeyContext); ok {
			len++
		}
	}

	tst := make([]IKeyContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IKeyContext); ok {
			tst[i] = t.(IKeyContext)
			i++
		}
	}

	return tst
}

func (s *KeyListContext) Key(i int) IKeyContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IKeyContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IKeyContext)
}

func (s *KeyListContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *KeyListContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *KeyListContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *KeyListContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *KeyListContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) KeyList() (localctx IKeyListContext) {
	localctx = NewKeyListContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 38, StapParserRULE_keyList)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(328)
		p.Match(StapParserLIST_OPEN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(329)
		p.Key()
	}
	p.SetState(334)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(330)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(331)
			p.Key()
		}

		p.SetState(336)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(337)
		p.Match(StapParserRBRACK)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IKeyContext is an interface to support dynamic dispatch.
type IKeyContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	Sort() ISortContext

	// IsKeyContext differentiates from other interfaces.
	IsKeyContext()
}

type KeyContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyKeyContext() *KeyContext {
	var p = new(KeyContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_key
	return p
}

func InitEmptyKeyContext(p *KeyContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_key
}

func (*KeyContext) IsKeyContext() {}

func NewKeyContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *KeyContext {
	var p = new(KeyContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_key

	return p
}

func (s *KeyContext) GetParser() antlr.Parser { return s.parser }

func (s *KeyContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *KeyContext) Sort() ISortContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ISortContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ISortContext)
}

func (s *KeyContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *KeyContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Key() (localctx IKeyContext) {
	localctx = NewKeyContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 40, StapParserRULE_key)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(339)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(341)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserPLUS || _la == StapParserMINUS {
		{
			p.SetState(340)
			p.Sort()
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ISortContext is an interface to support dynamic dispatch.
type ISortContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	PLUS() antlr.TerminalNode
	MINUS() antlr.TerminalNode

	// IsSortContext differentiates from other interfaces.
	IsSortContext()
}

type SortContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptySortContext() *SortContext {
	var p = new(SortContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_sort
	return p
}

func InitEmptySortContext(p *SortContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_sort
}

func (*SortContext) IsSortContext() {}

func NewSortContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *SortContext {
	var p = new(SortContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_sort

	return p
}

func (s *SortContext) GetParser() antlr.Parser { return s.parser }

func (s *SortContext) PLUS() antlr.TerminalNode {
	return s.GetToken(StapParserPLUS, 0)
}

func (s *SortContext) MINUS() antlr.TerminalNode {
	return s.GetToken(StapParserMINUS, 0)
}

func (s *SortContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *SortContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Sort() (localctx ISortContext) {
	localctx = NewSortContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 42, StapParserRULE_sort)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(343)
		_la = p.GetTokenStream().LA(1)

		if !(_la == StapParserPLUS || _la == StapParserMINUS) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}

	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IForeachBaseContext is an interface to support dynamic dispatch.
type IForeachBaseContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	ID() antlr.TerminalNode
	Call() ICallContext

	// IsForeachBaseContext differentiates from other interfaces.
	IsForeachBaseContext()
}

type ForeachBaseContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyForeachBaseContext() *ForeachBaseContext {
	var p = new(ForeachBaseContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachBase
	return p
}

func InitEmptyForeachBaseContext(p *ForeachBaseContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachBase
}

func (*ForeachBaseContext) IsForeachBaseContext() {}

func NewForeachBaseContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ForeachBaseContext {
	var p = new(ForeachBaseContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_foreachBase

	return p
}

func (s *ForeachBaseContext) GetParser() antlr.Parser { return s.parser }

func (s *ForeachBaseContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *ForeachBaseContext) Call() ICallContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ICallContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ICallContext)
}

func (s *ForeachBaseContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ForeachBaseContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) ForeachBase() (localctx IForeachBaseContext) {
	localctx = NewForeachBaseContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 44, StapParserRULE_foreachBase)
	p.SetState(347)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserID:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(345)
			p.Match(StapParserID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(346)
			p.Call()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IForeachOverContext is an interface to support dynamic dispatch.
type IForeachOverContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	TARGET() antlr.TerminalNode
	AllSuffix() []ISuffixContext
	Suffix(i int) ISuffixContext

	// IsForeachOverContext differentiates from other interfaces.
	IsForeachOverContext()
}

type ForeachOverContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyForeachOverContext() *ForeachOverContext {
	var p = new(ForeachOverContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachOver
	return p
}

func InitEmptyForeachOverContext(p *ForeachOverContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_foreachOver
}

func (*ForeachOverContext) IsForeachOverContext() {}

func NewForeachOverContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ForeachOverContext {
	var p = new(ForeachOverContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_foreachOver

	return p
}

func (s *ForeachOverContext) GetParser() antlr.Parser { return s.parser }

func (s *ForeachOverContext) TARGET() antlr.TerminalNode {
	return s.GetToken(StapParserTARGET, 0)
}

func (s *ForeachOverContext) AllSuffix() []ISuffixContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(ISuffixContext); ok {
			len++
		}
	}

	tst := make([]ISuffixContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(ISuffixContext); ok {
			tst[i] = t.(ISuffixContext)
			i++
		}
	}

	return tst
}

func (s *ForeachOverContext) Suffix(i int) ISuffixContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ISuffixContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(ISuffixContext)
}

func (s *ForeachOverContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ForeachOverContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) ForeachOver() (localctx IForeachOverContext) {
	localctx = NewForeachOverContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 46, StapParserRULE_foreachOver)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(349)
		p.Match(StapParserTARGET)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(353)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserASSERTION || _la == StapParserDOLLARS || _la == StapParserARROW || _la == StapParserLBRACK {
		{
			p.SetState(350)
			p.Suffix()
		}

		p.SetState(355)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IExprContext is an interface to support dynamic dispatch.
type IExprContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	AllUnary() []IUnaryContext
	Unary(i int) IUnaryContext
	AllBinop() []IBinopContext
	Binop(i int) IBinopContext
	AllQUEST() []antlr.TerminalNode
	QUEST(i int) antlr.TerminalNode
	AllExpr() []IExprContext
	Expr(i int) IExprContext
	AllCOLON() []antlr.TerminalNode
	COLON(i int) antlr.TerminalNode

	// IsExprContext differentiates from other interfaces.
	IsExprContext()
}

type ExprContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyExprContext() *ExprContext {
	var p = new(ExprContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_expr
	return p
}

func InitEmptyExprContext(p *ExprContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_expr
}

func (*ExprContext) IsExprContext() {}

func NewExprContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ExprContext {
	var p = new(ExprContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_expr

	return p
}

func (s *ExprContext) GetParser() antlr.Parser { return s.parser }

func (s *ExprContext) AllUnary() []IUnaryContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IUnaryContext); ok {
			len++
		}
	}

	tst := make([]IUnaryContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IUnaryContext); ok {
			tst[i] = t.(IUnaryContext)
			i++
		}
	}

	return tst
}

func (s *ExprContext) Unary(i int) IUnaryContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IUnaryContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IUnaryContext)
}

func (s *ExprContext) AllBinop() []IBinopContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IBinopContext); ok {
			len++
		}
	}

	tst := make([]IBinopContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IBinopContext); ok {
			tst[i] = t.(IBinopContext)
			i++
		}
	}

	return tst
}

func (s *ExprContext) Binop(i int) IBinopContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IBinopContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IBinopContext)
}

func (s *ExprContext) AllQUEST() []antlr.TerminalNode {
	return s.GetTokens(StapParserQUEST)
}

func (s *ExprContext) QUEST(i int) antlr.TerminalNode {
	return s.GetToken(StapParserQUEST, i)
}

func (s *ExprContext) AllExpr() []IExprContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IExprContext); ok {
			len++
		}
	}

	tst := make([]IExprContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IExprContext); ok {
			tst[i] = t.(IExprContext)
			i++
		}
	}

	return tst
}

func (s *ExprContext) Expr(i int) IExprContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *ExprContext) AllCOLON() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOLON)
}

func (s *ExprContext) COLON(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOLON, i)
}

func (s *ExprContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ExprContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Expr() (localctx IExprContext) {
	localctx = NewExprContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 48, StapParserRULE_expr)
	p.Enter()
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(356)
		p.Unary()
	}
	p.SetState(367)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&-281474976186368) != 0) || ((int64((_la-64)) & ^0x3f) == 0 && ((int64(1)<<(_la-64))&17172267807) != 0) {
		p.SetState(365)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}

		switch p.GetTokenStream().LA(1) {
		case StapParserIN, StapParserSHR3, StapParserAGG, StapParserSHL_A, StapParserSHR_A, StapParserEQ, StapParserNE, StapParserLE, StapParserGE, StapParserMATCH, StapParserNMATCH, StapParserADD_A, StapParserSUB_A, StapParserMUL_A, StapParserDIV_A, StapParserMOD_A, StapParserAND_A, StapParserXOR_A, StapParserOR_A, StapParserCAT_A, StapParserANDAND, StapParserOROR, StapParserSHL, StapParserSHR, StapParserDOT, StapParserASSIGN, StapParserPLUS, StapParserMINUS, StapParserSTAR, StapParserSLASH, StapParserMOD, StapParserAND, StapParserXOR, StapParserOR, StapParserLT, StapParserGT:
			{
				p.SetState(357)
				p.Binop()
			}
			{
				p.SetState(358)
				p.Unary()
			}

		case StapParserQUEST:
			{
				p.SetState(360)
				p.Match(StapParserQUEST)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(361)
				p.Expr()
			}
			{
				p.SetState(362)
				p.Match(StapParserCOLON)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(363)
				p.Unary()
			}

		default:
			p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
			goto errorExit
		}

		p.SetState(369)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}

	p.GetParserRuleContext().SetStop(p.GetTokenStream().LT(-1))

	p.Leave()

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IBinopContext is an interface to support dynamic dispatch.
type IBinopContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	STAR() antlr.TerminalNode
	SLASH() antlr.TerminalNode
	MOD() antlr.TerminalNode
	PLUS() antlr.TerminalNode
	MINUS() antlr.TerminalNode
	DOT() antlr.TerminalNode
	SHL() antlr.TerminalNode
	SHR() antlr.TerminalNode
	SHR3() antlr.TerminalNode
	LT() antlr.TerminalNode
	GT() antlr.TerminalNode
	LE() antlr.TerminalNode
	GE() antlr.TerminalNode
	EQ() antlr.TerminalNode
	NE() antlr.TerminalNode
	MATCH() antlr.TerminalNode
	NMATCH() antlr.TerminalNode
	IN() antlr.TerminalNode
	AND() antlr.TerminalNode
	XOR() antlr.TerminalNode
	OR() antlr.TerminalNode
	ANDAND() antlr.TerminalNode
	OROR() antlr.TerminalNode
	ASSIGN() antlr.TerminalNode
	AGG() antlr.TerminalNode
	ADD_A() antlr.TerminalNode
	SUB_A() antlr.TerminalNode
	MUL_A() antlr.TerminalNode
	DIV_A() antlr.TerminalNode
	MOD_A() antlr.TerminalNode
	SHL_A() antlr.TerminalNode
	SHR_A() antlr.TerminalNode
	AND_A() antlr.TerminalNode
	XOR_A() antlr.TerminalNode
	OR_A() antlr.TerminalNode
	CAT_A() antlr.TerminalNode

	// IsBinopContext differentiates from other interfaces.
	IsBinopContext()
}

type BinopContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyBinopContext() *BinopContext {
	var p = new(BinopContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_binop
	return p
}

func InitEmptyBinopContext(p *BinopContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_binop
}

func (*BinopContext) IsBinopContext() {}

func NewBinopContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *BinopContext {
	var p = new(BinopContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_binop

	return p
}

func (s *BinopContext) GetParser() antlr.Parser { return s.parser }

func (s *BinopContext) STAR() antlr.TerminalNode {
	return s.GetToken(StapParserSTAR, 0)
}

func (s *BinopContext) SLASH() antlr.TerminalNode {
	return s.GetToken(StapParserSLASH, 0)
}

func (s *BinopContext) MOD() antlr.TerminalNode {
	return s.GetToken(StapParserMOD, 0)
}

func (s *BinopContext) PLUS() antlr.TerminalNode {
	return s.GetToken(StapParserPLUS, 0)
}

func (s *BinopContext) MINUS() antlr.TerminalNode {
	return s.GetToken(StapParserMINUS, 0)
}

func (s *BinopContext) DOT() antlr.TerminalNode {
	return s.GetToken(StapParserDOT, 0)
}

func (s *BinopContext) SHL() antlr.TerminalNode {
	return s.GetToken(StapParserSHL, 0)
}

func (s *BinopContext) SHR() antlr.TerminalNode {
	return s.GetToken(StapParserSHR, 0)
}

func (s *BinopContext) SHR3() antlr.TerminalNode {
	return s.GetToken(StapParserSHR3, 0)
}

func (s *BinopContext) LT() antlr.TerminalNode {
	return s.GetToken(StapParserLT, 0)
}

func (s *BinopContext) GT() antlr.TerminalNode {
	return s.GetToken(StapParserGT, 0)
}

func (s *BinopContext) LE() antlr.TerminalNode {
	return s.GetToken(StapParserLE, 0)
}

func (s *BinopContext) GE() antlr.TerminalNode {
	return s.GetToken(StapParserGE, 0)
}

func (s *BinopContext) EQ() antlr.TerminalNode {
	return s.GetToken(StapParserEQ, 0)
}

func (s *BinopContext) NE() antlr.TerminalNode {
	return s.GetToken(StapParserNE, 0)
}

func (s *BinopContext) MATCH() antlr.TerminalNode {
	return s.GetToken(StapParserMATCH, 0)
}

func (s *BinopContext) NMATCH() antlr.TerminalNode {
	return s.GetToken(StapParserNMATCH, 0)
}

func (s *BinopContext) IN() antlr.TerminalNode {
	return s.GetToken(StapParserIN, 0)
}

func (s *BinopContext) AND() antlr.TerminalNode {
	return s.GetToken(StapParserAND, 0)
}

func (s *BinopContext) XOR() antlr.TerminalNode {
	return s.GetToken(StapParserXOR, 0)
}

func (s *BinopContext) OR() antlr.TerminalNode {
	return s.GetToken(StapParserOR, 0)
}

func (s *BinopContext) ANDAND() antlr.TerminalNode {
	return s.GetToken(StapParserANDAND, 0)
}

func (s *BinopContext) OROR() antlr.TerminalNode {
	return s.GetToken(StapParserOROR, 0)
}

func (s *BinopContext) ASSIGN() antlr.TerminalNode {
	return s.GetToken(StapParserASSIGN, 0)
}

func (s *BinopContext) AGG() antlr.TerminalNode {
	return s.GetToken(StapParserAGG, 0)
}

func (s *BinopContext) ADD_A() antlr.TerminalNode {
	return s.GetToken(StapParserADD_A, 0)
}

func (s *BinopContext) SUB_A() antlr.TerminalNode {
	return s.GetToken(StapParserSUB_A, 0)
}

func (s *BinopContext) MUL_A() antlr.TerminalNode {
	return s.GetToken(StapParserMUL_A, 0)
}

func (s *BinopContext) DIV_A() antlr.TerminalNode {
	return s.GetToken(StapParserDIV_A, 0)
}

func (s *BinopContext) MOD_A() antlr.TerminalNode {
	return s.GetToken(StapParserMOD_A, 0)
}

func (s *BinopContext) SHL_A() antlr.TerminalNode {
	return s.GetToken(StapParserSHL_A, 0)
}

func (s *BinopContext) SHR_A() antlr.TerminalNode {
	return s.GetToken(StapParserSHR_A, 0)
}

func (s *BinopContext) AND_A() antlr.TerminalNode {
	return s.GetToken(StapParserAND_A, 0)
}

func (s *BinopContext) XOR_A() antlr.TerminalNode {
	return s.GetToken(StapParserXOR_A, 0)
}

func (s *BinopContext) OR_A() antlr.TerminalNode {
	return s.GetToken(StapParserOR_A, 0)
}

func (s *BinopContext) CAT_A() antlr.TerminalNode {
	return s.GetToken(StapParserCAT_A, 0)
}

func (s *BinopContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *BinopContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Binop() (localctx IBinopContext) {
	localctx = NewBinopContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 50, StapParserRULE_binop)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(370)
		_la = p.GetTokenStream().LA(1)

		if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&-281474976186368) != 0) || ((int64((_la-64)) & ^0x3f) == 0 && ((int64(1)<<(_la-64))&17171743519) != 0)) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}

	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IUnaryContext is an interface to support dynamic dispatch.
type IUnaryContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	Primary() IPrimaryContext
	AllSuffix() []ISuffixContext
	Suffix(i int) ISuffixContext
	AllU_PLUS() []antlr.TerminalNode
	U_PLUS(i int) antlr.TerminalNode
	AllU_MINUS() []antlr.TerminalNode
	U_MINUS(i int) antlr.TerminalNode
	AllBANG() []antlr.TerminalNode
	BANG(i int) antlr.TerminalNode
	AllTILDE() []antlr.TerminalNode
	TILDE(i int) antlr.TerminalNode
	AllADDR() []antlr.TerminalNode
	ADDR(i int) antlr.TerminalNode
	AllPRE_INC() []antlr.TerminalNode
	PRE_INC(i int) antlr.TerminalNode
	AllPRE_DEC() []antlr.TerminalNode
	PRE_DEC(i int) antlr.TerminalNode
	INC() antlr.TerminalNode
	DEC() antlr.TerminalNode

	// IsUnaryContext differentiates from other interfaces.
	IsUnaryContext()
}

type UnaryContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyUnaryContext() *UnaryContext {
	var p = new(UnaryContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_unary
	return p
}

func InitEmptyUnaryContext(p *UnaryContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_unary
}

func (*UnaryContext) IsUnaryContext() {}

func NewUnaryContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *UnaryContext {
	var p = new(UnaryContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_unary

	return p
}

func (s *UnaryContext) GetParser() antlr.Parser { return s.parser }

func (s *UnaryContext) Primary() IPrimaryContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IPrimaryContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IPrimaryContext)
}

func (s *UnaryContext) AllSuffix() []ISuffixContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(ISuffixContext); ok {
			len++
		}
	}

	tst := make([]ISuffixContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(ISuffixContext); ok {
			tst[i] = t.(ISuffixContext)
			i++
		}
	}

	return tst
}

func (s *UnaryContext) Suffix(i int) ISuffixContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ISuffixContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(ISuffixContext)
}

func (s *UnaryContext) AllU_PLUS() []antlr.TerminalNode {
	return s.GetTokens(StapParserU_PLUS)
}

func (s *UnaryContext) U_PLUS(i int) antlr.TerminalNode {
	return s.GetToken(StapParserU_PLUS, i)
}

func (s *UnaryContext) AllU_MINUS() []antlr.TerminalNode {
	return s.GetTokens(StapParserU_MINUS)
}

func (s *UnaryContext) U_MINUS(i int) antlr.TerminalNode {
	return s.GetToken(StapParserU_MINUS, i)
}

func (s *UnaryContext) AllBANG() []antlr.TerminalNode {
	return s.GetTokens(StapParserBANG)
}

func (s *UnaryContext) BANG(i int) antlr.TerminalNode {
	return s.GetToken(StapParserBANG, i)
}

func (s *UnaryContext) AllTILDE() []antlr.TerminalNode {
	return s.GetTokens(StapParserTILDE)
}

func (s *UnaryContext) TILDE(i int) antlr.TerminalNode {
	return s.GetToken(StapParserTILDE, i)
}

func (s *UnaryContext) AllADDR() []antlr.TerminalNode {
	return s.GetTokens(StapParserADDR)
}

func (s *UnaryContext) ADDR(i int) antlr.TerminalNode {
	return s.GetToken(StapParserADDR, i)
}

func (s *UnaryContext) AllPRE_INC() []antlr.TerminalNode {
	return s.GetTokens(StapParserPRE_INC)
}

func (s *UnaryContext) PRE_INC(i int) antlr.TerminalNode {
	return s.GetToken(StapParserPRE_INC, i)
}

func (s *UnaryContext) AllPRE_DEC() []antlr.TerminalNode {
	return s.GetTokens(StapParserPRE_DEC)
}

func (s *UnaryContext) PRE_DEC(i int) antlr.TerminalNode {
	return s.GetToken(StapParserPRE_DEC, i)
}

func (s *UnaryContext) INC() antlr.TerminalNode {
	return s.GetToken(StapParserINC, 0)
}

func (s *UnaryContext) DEC() antlr.TerminalNode {
	return s.GetToken(StapParserDEC, 0)
}

func (s *UnaryContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *UnaryContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Unary() (localctx IUnaryContext) {
	localctx = NewUnaryContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 52, StapParserRULE_unary)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	p.SetState(375)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&248) != 0) || _la == StapParserBANG || _la == StapParserTILDE {
		{
			p.SetState(372)
			_la = p.GetTokenStream().LA(1)

			if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&248) != 0) || _la == StapParserBANG || _la == StapParserTILDE) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

		p.SetState(377)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(378)
		p.Primary()
	}
	p.SetState(382)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserASSERTION || _la == StapParserDOLLARS || _la == StapParserARROW || _la == StapParserLBRACK {
		{
			p.SetState(379)
			p.Suffix()
		}

		p.SetState(384)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(386)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserINC || _la == StapParserDEC {
		{
			p.SetState(385)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserINC || _la == StapParserDEC) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IPrimaryContext is an interface to support dynamic dispatch.
type IPrimaryContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	LPAREN() antlr.TerminalNode
	Expr() IExprContext
	RPAREN() antlr.TerminalNode
	Call() ICallContext
	LIST_OPEN() antlr.TerminalNode
	AllArg() []IArgContext
	Arg(i int) IArgContext
	RBRACK() antlr.TerminalNode
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode
	ID() antlr.TerminalNode
	TARGET() antlr.TerminalNode
	EMBEDDED() antlr.TerminalNode
	NUMBER() antlr.TerminalNode
	STRING() antlr.TerminalNode
	AllSTRING_MORE() []antlr.TerminalNode
	STRING_MORE(i int) antlr.TerminalNode

	// IsPrimaryContext differentiates from other interfaces.
	IsPrimaryContext()
}

type PrimaryContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyPrimaryContext() *PrimaryContext {
	var p = new(PrimaryContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_primary
	return p
}

func InitEmptyPrimaryContext(p *PrimaryContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_primary
}

func (*PrimaryContext) IsPrimaryContext() {}

func NewPrimaryContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *PrimaryContext {
	var p = new(PrimaryContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_primary

	return p
}

func (s *PrimaryContext) GetParser() antlr.Parser { return s.parser }

func (s *PrimaryContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *PrimaryContext) Expr() IExprContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *PrimaryContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *PrimaryContext) Call() ICallContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(ICallContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(ICallContext)
}

func (s *PrimaryContext) LIST_OPEN() antlr.TerminalNode {
	return s.GetToken(StapParserLIST_OPEN, 0)
}

func (s *PrimaryContext) AllArg() []IArgContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IArgContext); ok {
			len++
		}
	}

	tst := make([]IArgContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IArgContext); ok {
			tst[i] = t.(IArgContext)
			i++
		}
	}

	return tst
}

func (s *PrimaryContext) Arg(i int) IArgContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IArgContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IArgContext)
}

func (s *PrimaryContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *PrimaryContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *PrimaryContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *PrimaryContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *PrimaryContext) TARGET() antlr.TerminalNode {
	return s.GetToken(StapParserTARGET, 0)
}

func (s *PrimaryContext) EMBEDDED() antlr.TerminalNode {
	return s.GetToken(StapParserEMBEDDED, 0)
}

func (s *PrimaryContext) NUMBER() antlr.TerminalNode {
	return s.GetToken(StapParserNUMBER, 0)
}

func (s *PrimaryContext) STRING() antlr.TerminalNode {
	return s.GetToken(StapParserSTRING, 0)
}

func (s *PrimaryContext) AllSTRING_MORE() []antlr.TerminalNode {
	return s.GetTokens(StapParserSTRING_MORE)
}

func (s *PrimaryContext) STRING_MORE(i int) antlr.TerminalNode {
	return s.GetToken(StapParserSTRING_MORE, i)
}

func (s *PrimaryContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *PrimaryContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Primary() (localctx IPrimaryContext) {
	localctx = NewPrimaryContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 54, StapParserRULE_primary)
	var _la int

	p.SetState(415)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLPAREN:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(388)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(389)
			p.Expr()
		}
		{
			p.SetState(390)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(392)
			p.Call()
		}

	case StapParserLIST_OPEN:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(393)
			p.Match(StapParserLIST_OPEN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(394)
			p.Arg()
		}
		p.SetState(399)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(395)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(396)
				p.Arg()
			}

			p.SetState(401)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		{
			p.SetState(402)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserID:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(404)
			p.Match(StapParserID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserTARGET:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(405)
			p.Match(StapParserTARGET)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserEMBEDDED:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(406)
			p.Match(StapParserEMBEDDED)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserNUMBER:
		p.EnterOuterAlt(localctx, 7)
		{
			p.SetState(407)
			p.Match(StapParserNUMBER)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserSTRING:
		p.EnterOuterAlt(localctx, 8)
		{
			p.SetState(408)
			p.Match(StapParserSTRING)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(412)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserSTRING_MORE {
			{
				p.SetState(409)
				p.Match(StapParserSTRING_MORE)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

			p.SetState(414)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ICallContext is an interface to support dynamic dispatch.
type ICallContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	FUNC_NAME() antlr.TerminalNode
	LPAREN() antlr.TerminalNode
	RPAREN() antlr.TerminalNode
	AllArg() []IArgContext
	Arg(i int) IArgContext
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode

	// IsCallContext differentiates from other interfaces.
	IsCallContext()
}

type CallContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyCallContext() *CallContext {
	var p = new(CallContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_call
	return p
}

func InitEmptyCallContext(p *CallContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_call
}

func (*CallContext) IsCallContext() {}

func NewCallContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *CallContext {
	var p = new(CallContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_call

	return p
}

func (s *CallContext) GetParser() antlr.Parser { return s.parser }

func (s *CallContext) FUNC_NAME() antlr.TerminalNode {
	return s.GetToken(StapParserFUNC_NAME, 0)
}

func (s *CallContext) LPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserLPAREN, 0)
}

func (s *CallContext) RPAREN() antlr.TerminalNode {
	return s.GetToken(StapParserRPAREN, 0)
}

func (s *CallContext) AllArg() []IArgContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IArgContext); ok {
			len++
		}
	}

	tst := make([]IArgContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IArgContext); ok {
			tst[i] = t.(IArgContext)
			i++
		}
	}

	return tst
}

func (s *CallContext) Arg(i int) IArgContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IArgContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IArgContext)
}

func (s *CallContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *CallContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *CallContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *CallContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Call() (localctx ICallContext) {
	localctx = NewCallContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 56, StapParserRULE_call)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(417)
		p.Match(StapParserFUNC_NAME)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(418)
		p.Match(StapParserLPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(427)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&71681) != 0) {
		{
			p.SetState(419)
			p.Arg()
		}
		p.SetState(424)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(420)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(421)
				p.Arg()
			}

			p.SetState(426)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	}
	{
		p.SetState(429)
		p.Match(StapParserRPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// IArgContext is an interface to support dynamic dispatch.
type IArgContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	STAR() antlr.TerminalNode
	Expr() IExprContext

	// IsArgContext differentiates from other interfaces.
	IsArgContext()
}

type ArgContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptyArgContext() *ArgContext {
	var p = new(ArgContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_arg
	return p
}

func InitEmptyArgContext(p *ArgContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_arg
}

func (*ArgContext) IsArgContext() {}

func NewArgContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *ArgContext {
	var p = new(ArgContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_arg

	return p
}

func (s *ArgContext) GetParser() antlr.Parser { return s.parser }

func (s *ArgContext) STAR() antlr.TerminalNode {
	return s.GetToken(StapParserSTAR, 0)
}

func (s *ArgContext) Expr() IExprContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *ArgContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *ArgContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Arg() (localctx IArgContext) {
	localctx = NewArgContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 58, StapParserRULE_arg)
	p.SetState(433)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserSTAR:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(431)
			p.Match(StapParserSTAR)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME, StapParserU_MINUS, StapParserU_PLUS, StapParserADDR, StapParserPRE_INC, StapParserPRE_DEC, StapParserLIST_OPEN, StapParserTARGET, StapParserID, StapParserNUMBER, StapParserSTRING, StapParserEMBEDDED, StapParserLPAREN, StapParserBANG, StapParserTILDE:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(432)
			p.Expr()
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}

// ISuffixContext is an interface to support dynamic dispatch.
type ISuffixContext interface {
	antlr.ParserRuleContext

	// GetParser returns the parser.
	GetParser() antlr.Parser

	// Getter signatures
	LBRACK() antlr.TerminalNode
	RBRACK() antlr.TerminalNode
	AllArg() []IArgContext
	Arg(i int) IArgContext
	COLON() antlr.TerminalNode
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode
	Expr() IExprContext
	ASSERTION() antlr.TerminalNode
	ARROW() antlr.TerminalNode
	ID() antlr.TerminalNode
	DOLLARS() antlr.TerminalNode

	// IsSuffixContext differentiates from other interfaces.
	IsSuffixContext()
}

type SuffixContext struct {
	antlr.BaseParserRuleContext
	parser antlr.Parser
}

func NewEmptySuffixContext() *SuffixContext {
	var p = new(SuffixContext)
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_suffix
	return p
}

func InitEmptySuffixContext(p *SuffixContext) {
	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, nil, -1)
	p.RuleIndex = StapParserRULE_suffix
}

func (*SuffixContext) IsSuffixContext() {}

func NewSuffixContext(parser antlr.Parser, parent antlr.ParserRuleContext, invokingState int) *SuffixContext {
	var p = new(SuffixContext)

	antlr.InitBaseParserRuleContext(&p.BaseParserRuleContext, parent, invokingState)

	p.parser = parser
	p.RuleIndex = StapParserRULE_suffix

	return p
}

func (s *SuffixContext) GetParser() antlr.Parser { return s.parser }

func (s *SuffixContext) LBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserLBRACK, 0)
}

func (s *SuffixContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *SuffixContext) AllArg() []IArgContext {
	children := s.GetChildren()
	len := 0
	for _, ctx := range children {
		if _, ok := ctx.(IArgContext); ok {
			len++
		}
	}

	tst := make([]IArgContext, len)
	i := 0
	for _, ctx := range children {
		if t, ok := ctx.(IArgContext); ok {
			tst[i] = t.(IArgContext)
			i++
		}
	}

	return tst
}

func (s *SuffixContext) Arg(i int) IArgContext {
	var t antlr.RuleContext
	j := 0
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IArgContext); ok {
			if j == i {
				t = ctx.(antlr.RuleContext)
				break
			}
			j++
		}
	}

	if t == nil {
		return nil
	}

	return t.(IArgContext)
}

func (s *SuffixContext) COLON() antlr.TerminalNode {
	return s.GetToken(StapParserCOLON, 0)
}

func (s *SuffixContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *SuffixContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
}

func (s *SuffixContext) Expr() IExprContext {
	var t antlr.RuleContext
	for _, ctx := range s.GetChildren() {
		if _, ok := ctx.(IExprContext); ok {
			t = ctx.(antlr.RuleContext)
			break
		}
	}

	if t == nil {
		return nil
	}

	return t.(IExprContext)
}

func (s *SuffixContext) ASSERTION() antlr.TerminalNode {
	return s.GetToken(StapParserASSERTION, 0)
}

func (s *SuffixContext) ARROW() antlr.TerminalNode {
	return s.GetToken(StapParserARROW, 0)
}

func (s *SuffixContext) ID() antlr.TerminalNode {
	return s.GetToken(StapParserID, 0)
}

func (s *SuffixContext) DOLLARS() antlr.TerminalNode {
	return s.GetToken(StapParserDOLLARS, 0)
}

func (s *SuffixContext) GetRuleContext() antlr.RuleContext {
	return s
}

func (s *SuffixContext) ToStringTree(ruleNames []string, recog antlr.Recognizer) string {
	return antlr.TreesStringTree(s, ruleNames, recog)
}

func (p *StapParser) Suffix() (localctx ISuffixContext) {
	localctx = NewSuffixContext(p, p.GetParserRuleContext(), p.GetState())
	p.EnterRule(localctx, 60, StapParserRULE_suffix)
	var _la int

	p.SetState(461)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLBRACK:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(435)
			p.Match(StapParserLBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(454)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}

		switch p.GetTokenStream().LA(1) {
		case StapParserFUNC_NAME, StapParserU_MINUS, StapParserU_PLUS, StapParserADDR, StapParserPRE_INC, StapParserPRE_DEC, StapParserLIST_OPEN, StapParserTARGET, StapParserID, StapParserNUMBER, StapParserSTRING, StapParserEMBEDDED, StapParserLPAREN, StapParserBANG, StapParserTILDE, StapParserSTAR:
			{
				p.SetState(436)
				p.Arg()
			}
			p.SetState(441)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)

			for _la == StapParserCOMMA {
				{
					p.SetState(437)
					p.Match(StapParserCOMMA)
					if p.HasError() {
						// Recognition error - abort rule
						goto errorExit
					}
				}
				{
					p.SetState(438)
					p.Arg()
				}

				p.SetState(443)
				p.GetErrorHandler().Sync(p)
				if p.HasError() {
					goto errorExit
				}
				_la = p.GetTokenStream().LA(1)
			}
			p.SetState(448)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)

			if _la == StapParserCOLON {
				{
					p.SetState(444)
					p.Match(StapParserCOLON)
					if p.HasError() {
						// Recognition error - abort rule
						goto errorExit
					}
				}
				p.SetState(446)
				p.GetErrorHandler().Sync(p)
				if p.HasError() {
					goto errorExit
				}
				_la = p.GetTokenStream().LA(1)

				if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6145) != 0) {
					{
						p.SetState(445)
						p.Expr()
					}

				}

			}

		case StapParserCOLON:
			{
				p.SetState(450)
				p.Match(StapParserCOLON)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			p.SetState(452)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)

			if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&523986010618) != 0) || ((int64((_la-74)) & ^0x3f) == 0 && ((int64(1)<<(_la-74))&6145) != 0) {
				{
					p.SetState(451)
					p.Expr()
				}

			}

		default:
			p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
			goto errorExit
		}
		{
			p.SetState(456)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserASSERTION:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(457)
			p.Match(StapParserASSERTION)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserARROW:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(458)
			p.Match(StapParserARROW)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(459)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserDOLLARS || _la == StapParserID) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

	case StapParserDOLLARS:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(460)
			p.Match(StapParserDOLLARS)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	default:
		p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
		goto errorExit
	}

errorExit:
	if p.HasError() {
		v := p.GetError()
		localctx.SetException(v)
		p.GetErrorHandler().ReportError(p, v)
		p.GetErrorHandler().Recover(p, v)
		p.SetError(nil)
	}
	p.ExitRule()
	return localctx
}
