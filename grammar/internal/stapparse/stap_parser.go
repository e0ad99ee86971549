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
		"", "", "", "", "", "", "", "", "", "", "'probe'", "'global'", "'private'",
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
		"PRE_DEC", "LIST_OPEN", "STRING_MORE", "PROBE", "GLOBAL", "PRIVATE",
		"FUNCTION", "IF", "ELSE", "FOR", "FOREACH", "IN", "LIMIT", "RETURN",
		"DELETE", "WHILE", "BREAK", "CONTINUE", "NEXT", "STRING_T", "LONG_T",
		"TRY", "CATCH", "ARG", "ATWORD", "TARGET", "DOLLARS", "ID", "NUMBER",
		"STRING", "EMBEDDED", "OPEN_STRING", "OPEN_EMBEDDED", "OPEN_COMMENT",
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
		"namePart", "globals", "globalVar", "function", "param", "type", "literal",
		"block", "stmt", "foreachHead", "foreachKeys", "keyList", "key", "sort",
		"foreachBase", "expr", "binop", "unary", "primary", "call", "arg", "suffix",
	}
	staticData.PredictionContextCache = antlr.NewPredictionContextCache()
	staticData.serializedATN = []int32{
		4, 1, 97, 429, 2, 0, 7, 0, 2, 1, 7, 1, 2, 2, 7, 2, 2, 3, 7, 3, 2, 4, 7,
		4, 2, 5, 7, 5, 2, 6, 7, 6, 2, 7, 7, 7, 2, 8, 7, 8, 2, 9, 7, 9, 2, 10, 7,
		10, 2, 11, 7, 11, 2, 12, 7, 12, 2, 13, 7, 13, 2, 14, 7, 14, 2, 15, 7, 15,
		2, 16, 7, 16, 2, 17, 7, 17, 2, 18, 7, 18, 2, 19, 7, 19, 2, 20, 7, 20, 2,
		21, 7, 21, 2, 22, 7, 22, 2, 23, 7, 23, 2, 24, 7, 24, 2, 25, 7, 25, 2, 26,
		7, 26, 2, 27, 7, 27, 2, 28, 7, 28, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0,
		1, 0, 1, 0, 1, 0, 3, 0, 68, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 75,
		8, 1, 1, 2, 1, 2, 1, 2, 1, 2, 5, 2, 81, 8, 2, 10, 2, 12, 2, 84, 9, 2, 1,
		2, 1, 2, 1, 2, 3, 2, 89, 8, 2, 1, 3, 1, 3, 1, 3, 5, 3, 94, 8, 3, 10, 3,
		12, 3, 97, 9, 3, 1, 4, 1, 4, 1, 4, 1, 5, 1, 5, 1, 5, 5, 5, 105, 8, 5, 10,
		5, 12, 5, 108, 9, 5, 1, 5, 3, 5, 111, 8, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1,
		5, 3, 5, 118, 8, 5, 1, 6, 4, 6, 121, 8, 6, 11, 6, 12, 6, 122, 1, 6, 1,
		6, 1, 6, 1, 6, 3, 6, 129, 8, 6, 1, 6, 1, 6, 1, 6, 1, 6, 3, 6, 135, 8, 6,
		1, 7, 1, 7, 1, 8, 1, 8, 1, 8, 5, 8, 142, 8, 8, 10, 8, 12, 8, 145, 9, 8,
		1, 8, 3, 8, 148, 8, 8, 1, 9, 1, 9, 3, 9, 152, 8, 9, 1, 9, 1, 9, 1, 9, 1,
		9, 3, 9, 158, 8, 9, 1, 9, 1, 9, 3, 9, 162, 8, 9, 1, 10, 1, 10, 1, 10, 3,
		10, 167, 8, 10, 1, 10, 1, 10, 1, 10, 1, 10, 5, 10, 173, 8, 10, 10, 10,
		12, 10, 176, 9, 10, 3, 10, 178, 8, 10, 1, 10, 1, 10, 1, 10, 3, 10, 183,
		8, 10, 1, 10, 1, 10, 3, 10, 187, 8, 10, 1, 11, 1, 11, 1, 11, 3, 11, 192,
		8, 11, 1, 12, 1, 12, 1, 13, 3, 13, 197, 8, 13, 1, 13, 1, 13, 1, 13, 5,
		13, 202, 8, 13, 10, 13, 12, 13, 205, 9, 13, 3, 13, 207, 8, 13, 1, 14, 1,
		14, 5, 14, 211, 8, 14, 10, 14, 12, 14, 214, 9, 14, 1, 14, 1, 14, 1, 15,
		1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1,
		15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 3, 15, 237, 8, 15,
		1, 15, 1, 15, 3, 15, 241, 8, 15, 1, 15, 1, 15, 3, 15, 245, 8, 15, 1, 15,
		1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1,
		15, 1, 15, 1, 15, 3, 15, 261, 8, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15,
		1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 1, 15, 3, 15, 274, 8, 15, 1, 16, 1,
		16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 5, 16, 283, 8, 16, 10, 16, 12, 16,
		286, 9, 16, 1, 16, 1, 16, 3, 16, 290, 8, 16, 1, 16, 3, 16, 293, 8, 16,
		1, 16, 3, 16, 296, 8, 16, 1, 16, 1, 16, 3, 16, 300, 8, 16, 1, 17, 1, 17,
		1, 17, 1, 17, 3, 17, 306, 8, 17, 3, 17, 308, 8, 17, 1, 17, 3, 17, 311,
		8, 17, 1, 18, 1, 18, 1, 18, 1, 18, 5, 18, 317, 8, 18, 10, 18, 12, 18, 320,
		9, 18, 1, 18, 1, 18, 1, 19, 1, 19, 3, 19, 326, 8, 19, 1, 20, 1, 20, 1,
		21, 1, 21, 3, 21, 332, 8, 21, 1, 22, 1, 22, 1, 22, 1, 22, 1, 22, 1, 22,
		1, 22, 1, 22, 1, 22, 5, 22, 343, 8, 22, 10, 22, 12, 22, 346, 9, 22, 1,
		23, 1, 23, 1, 24, 5, 24, 351, 8, 24, 10, 24, 12, 24, 354, 9, 24, 1, 24,
		1, 24, 5, 24, 358, 8, 24, 10, 24, 12, 24, 361, 9, 24, 1, 24, 3, 24, 364,
		8, 24, 1, 25, 1, 25, 1, 25, 1, 25, 1, 25, 1, 25, 1, 25, 1, 25, 1, 25, 5,
		25, 375, 8, 25, 10, 25, 12, 25, 378, 9, 25, 1, 25, 1, 25, 1, 25, 1, 25,
		1, 25, 1, 25, 1, 25, 1, 25, 5, 25, 388, 8, 25, 10, 25, 12, 25, 391, 9,
		25, 3, 25, 393, 8, 25, 1, 26, 1, 26, 1, 26, 1, 26, 1, 26, 5, 26, 400, 8,
		26, 10, 26, 12, 26, 403, 9, 26, 3, 26, 405, 8, 26, 1, 26, 1, 26, 1, 27,
		1, 27, 3, 27, 411, 8, 27, 1, 28, 1, 28, 1, 28, 1, 28, 5, 28, 417, 8, 28,
		10, 28, 12, 28, 420, 9, 28, 1, 28, 1, 28, 1, 28, 1, 28, 1, 28, 3, 28, 427,
		8, 28, 1, 28, 0, 0, 29, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
		26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 0, 11,
		2, 0, 57, 57, 86, 86, 2, 0, 82, 82, 84, 84, 3, 0, 1, 1, 34, 35, 89, 89,
		2, 0, 8, 8, 77, 77, 3, 0, 1, 1, 26, 27, 34, 34, 1, 0, 26, 27, 1, 0, 87,
		88, 5, 0, 18, 18, 47, 67, 71, 72, 81, 81, 86, 96, 2, 0, 3, 7, 84, 85, 1,
		0, 68, 69, 1, 0, 33, 34, 479, 0, 67, 1, 0, 0, 0, 2, 74, 1, 0, 0, 0, 4,
		76, 1, 0, 0, 0, 6, 90, 1, 0, 0, 0, 8, 98, 1, 0, 0, 0, 10, 101, 1, 0, 0,
		0, 12, 134, 1, 0, 0, 0, 14, 136, 1, 0, 0, 0, 16, 138, 1, 0, 0, 0, 18, 149,
		1, 0, 0, 0, 20, 163, 1, 0, 0, 0, 22, 188, 1, 0, 0, 0, 24, 193, 1, 0, 0,
		0, 26, 206, 1, 0, 0, 0, 28, 208, 1, 0, 0, 0, 30, 273, 1, 0, 0, 0, 32, 275,
		1, 0, 0, 0, 34, 310, 1, 0, 0, 0, 36, 312, 1, 0, 0, 0, 38, 323, 1, 0, 0,
		0, 40, 327, 1, 0, 0, 0, 42, 331, 1, 0, 0, 0, 44, 333, 1, 0, 0, 0, 46, 347,
		1, 0, 0, 0, 48, 352, 1, 0, 0, 0, 50, 392, 1, 0, 0, 0, 52, 394, 1, 0, 0,
		0, 54, 410, 1, 0, 0, 0, 56, 426, 1, 0, 0, 0, 58, 68, 3, 4, 2, 0, 59, 60,
		5, 11, 0, 0, 60, 68, 3, 16, 8, 0, 61, 62, 5, 12, 0, 0, 62, 68, 3, 2, 1,
		0, 63, 64, 5, 13, 0, 0, 64, 68, 3, 20, 10, 0, 65, 68, 5, 37, 0, 0, 66,
		68, 5, 0, 0, 1, 67, 58, 1, 0, 0, 0, 67, 59, 1, 0, 0, 0, 67, 61, 1, 0, 0,
		0, 67, 63, 1, 0, 0, 0, 67, 65, 1, 0, 0, 0, 67, 66, 1, 0, 0, 0, 68, 1, 1,
		0, 0, 0, 69, 70, 5, 13, 0, 0, 70, 75, 3, 20, 10, 0, 71, 72, 5, 11, 0, 0,
		72, 75, 3, 16, 8, 0, 73, 75, 3, 16, 8, 0, 74, 69, 1, 0, 0, 0, 74, 71, 1,
		0, 0, 0, 74, 73, 1, 0, 0, 0, 75, 3, 1, 0, 0, 0, 76, 77, 5, 10, 0, 0, 77,
		82, 3, 6, 3, 0, 78, 79, 7, 0, 0, 0, 79, 81, 3, 6, 3, 0, 80, 78, 1, 0, 0,
		0, 81, 84, 1, 0, 0, 0, 82, 80, 1, 0, 0, 0, 82, 83, 1, 0, 0, 0, 83, 85,
		1, 0, 0, 0, 84, 82, 1, 0, 0, 0, 85, 88, 3, 28, 14, 0, 86, 87, 5, 80, 0,
		0, 87, 89, 3, 28, 14, 0, 88, 86, 1, 0, 0, 0, 88, 89, 1, 0, 0, 0, 89, 5,
		1, 0, 0, 0, 90, 95, 3, 10, 5, 0, 91, 92, 5, 80, 0, 0, 92, 94, 3, 10, 5,
		0, 93, 91, 1, 0, 0, 0, 94, 97, 1, 0, 0, 0, 95, 93, 1, 0, 0, 0, 95, 96,
		1, 0, 0, 0, 96, 7, 1, 0, 0, 0, 97, 95, 1, 0, 0, 0, 98, 99, 3, 6, 3, 0,
		99, 100, 5, 0, 0, 1, 100, 9, 1, 0, 0, 0, 101, 106, 3, 12, 6, 0, 102, 103,
		5, 81, 0, 0, 103, 105, 3, 12, 6, 0, 104, 102, 1, 0, 0, 0, 105, 108, 1,
		0, 0, 0, 106, 104, 1, 0, 0, 0, 106, 107, 1, 0, 0, 0, 107, 110, 1, 0, 0,
		0, 108, 106, 1, 0, 0, 0, 109, 111, 7, 1, 0, 0, 110, 109, 1, 0, 0, 0, 110,
		111, 1, 0, 0, 0, 111, 117, 1, 0, 0, 0, 112, 113, 5, 14, 0, 0, 113, 114,
		5, 73, 0, 0, 114, 115, 3, 44, 22, 0, 115, 116, 5, 74, 0, 0, 116, 118, 1,
		0, 0, 0, 117, 112, 1, 0, 0, 0, 117, 118, 1, 0, 0, 0, 118, 11, 1, 0, 0,
		0, 119, 121, 3, 14, 7, 0, 120, 119, 1, 0, 0, 0, 121, 122, 1, 0, 0, 0, 122,
		120, 1, 0, 0, 0, 122, 123, 1, 0, 0, 0, 123, 128, 1, 0, 0, 0, 124, 125,
		5, 73, 0, 0, 125, 126, 3, 26, 13, 0, 126, 127, 5, 74, 0, 0, 127, 129, 1,
		0, 0, 0, 128, 124, 1, 0, 0, 0, 128, 129, 1, 0, 0, 0, 129, 135, 1, 0, 0,
		0, 130, 131, 5, 75, 0, 0, 131, 132, 3, 6, 3, 0, 132, 133, 5, 76, 0, 0,
		133, 135, 1, 0, 0, 0, 134, 120, 1, 0, 0, 0, 134, 130, 1, 0, 0, 0, 135,
		13, 1, 0, 0, 0, 136, 137, 7, 2, 0, 0, 137, 15, 1, 0, 0, 0, 138, 143, 3,
		18, 9, 0, 139, 140, 5, 80, 0, 0, 140, 142, 3, 18, 9, 0, 141, 139, 1, 0,
		0, 0, 142, 145, 1, 0, 0, 0, 143, 141, 1, 0, 0, 0, 143, 144, 1, 0, 0, 0,
		144, 147, 1, 0, 0, 0, 145, 143, 1, 0, 0, 0, 146, 148, 5, 79, 0, 0, 147,
		146, 1, 0, 0, 0, 147, 148, 1, 0, 0, 0, 148, 17, 1, 0, 0, 0, 149, 151, 5,
		34, 0, 0, 150, 152, 5, 91, 0, 0, 151, 150, 1, 0, 0, 0, 151, 152, 1, 0,
		0, 0, 152, 157, 1, 0, 0, 0, 153, 154, 7, 3, 0, 0, 154, 155, 3, 26, 13,
		0, 155, 156, 5, 78, 0, 0, 156, 158, 1, 0, 0, 0, 157, 153, 1, 0, 0, 0, 157,
		158, 1, 0, 0, 0, 158, 161, 1, 0, 0, 0, 159, 160, 5, 86, 0, 0, 160, 162,
		3, 26, 13, 0, 161, 159, 1, 0, 0, 0, 161, 162, 1, 0, 0, 0, 162, 19, 1, 0,
		0, 0, 163, 166, 7, 4, 0, 0, 164, 165, 5, 83, 0, 0, 165, 167, 3, 24, 12,
		0, 166, 164, 1, 0, 0, 0, 166, 167, 1, 0, 0, 0, 167, 168, 1, 0, 0, 0, 168,
		177, 5, 73, 0, 0, 169, 174, 3, 22, 11, 0, 170, 171, 5, 80, 0, 0, 171, 173,
		3, 22, 11, 0, 172, 170, 1, 0, 0, 0, 173, 176, 1, 0, 0, 0, 174, 172, 1,
		0, 0, 0, 174, 175, 1, 0, 0, 0, 175, 178, 1, 0, 0, 0, 176, 174, 1, 0, 0,
		0, 177, 169, 1, 0, 0, 0, 177, 178, 1, 0, 0, 0, 178, 179, 1, 0, 0, 0, 179,
		182, 5, 74, 0, 0, 180, 181, 5, 83, 0, 0, 181, 183, 3, 26, 13, 0, 182, 180,
		1, 0, 0, 0, 182, 183, 1, 0, 0, 0, 183, 186, 1, 0, 0, 0, 184, 187, 3, 28,
		14, 0, 185, 187, 5, 37, 0, 0, 186, 184, 1, 0, 0, 0, 186, 185, 1, 0, 0,
		0, 187, 21, 1, 0, 0, 0, 188, 191, 5, 34, 0, 0, 189, 190, 5, 83, 0, 0, 190,
		192, 3, 24, 12, 0, 191, 189, 1, 0, 0, 0, 191, 192, 1, 0, 0, 0, 192, 23,
		1, 0, 0, 0, 193, 194, 7, 5, 0, 0, 194, 25, 1, 0, 0, 0, 195, 197, 5, 3,
		0, 0, 196, 195, 1, 0, 0, 0, 196, 197, 1, 0, 0, 0, 197, 198, 1, 0, 0, 0,
		198, 207, 5, 35, 0, 0, 199, 203, 5, 36, 0, 0, 200, 202, 5, 9, 0, 0, 201,
		200, 1, 0, 0, 0, 202, 205, 1, 0, 0, 0, 203, 201, 1, 0, 0, 0, 203, 204,
		1, 0, 0, 0, 204, 207, 1, 0, 0, 0, 205, 203, 1, 0, 0, 0, 206, 196, 1, 0,
		0, 0, 206, 199, 1, 0, 0, 0, 207, 27, 1, 0, 0, 0, 208, 212, 5, 75, 0, 0,
		209, 211, 3, 30, 15, 0, 210, 209, 1, 0, 0, 0, 211, 214, 1, 0, 0, 0, 212,
		210, 1, 0, 0, 0, 212, 213, 1, 0, 0, 0, 213, 215, 1, 0, 0, 0, 214, 212,
		1, 0, 0, 0, 215, 216, 5, 76, 0, 0, 216, 29, 1, 0, 0, 0, 217, 274, 5, 79,
		0, 0, 218, 274, 3, 28, 14, 0, 219, 220, 5, 14, 0, 0, 220, 221, 5, 73, 0,
		0, 221, 222, 3, 44, 22, 0, 222, 223, 5, 74, 0, 0, 223, 224, 3, 30, 15,
		0, 224, 274, 1, 0, 0, 0, 225, 226, 5, 15, 0, 0, 226, 274, 3, 30, 15, 0,
		227, 228, 5, 22, 0, 0, 228, 229, 5, 73, 0, 0, 229, 230, 3, 44, 22, 0, 230,
		231, 5, 74, 0, 0, 231, 232, 3, 30, 15, 0, 232, 274, 1, 0, 0, 0, 233, 234,
		5, 16, 0, 0, 234, 236, 5, 73, 0, 0, 235, 237, 3, 44, 22, 0, 236, 235, 1,
		0, 0, 0, 236, 237, 1, 0, 0, 0, 237, 238, 1, 0, 0, 0, 238, 240, 5, 79, 0,
		0, 239, 241, 3, 44, 22, 0, 240, 239, 1, 0, 0, 0, 240, 241, 1, 0, 0, 0,
		241, 242, 1, 0, 0, 0, 242, 244, 5, 79, 0, 0, 243, 245, 3, 44, 22, 0, 244,
		243, 1, 0, 0, 0, 244, 245, 1, 0, 0, 0, 245, 246, 1, 0, 0, 0, 246, 247,
		5, 74, 0, 0, 247, 274, 3, 30, 15, 0, 248, 249, 5, 17, 0, 0, 249, 250, 5,
		73, 0, 0, 250, 251, 3, 32, 16, 0, 251, 252, 5, 74, 0, 0, 252, 253, 3, 30,
		15, 0, 253, 274, 1, 0, 0, 0, 254, 255, 5, 28, 0, 0, 255, 256, 3, 28, 14,
		0, 256, 260, 5, 29, 0, 0, 257, 258, 5, 73, 0, 0, 258, 259, 5, 34, 0, 0,
		259, 261, 5, 74, 0, 0, 260, 257, 1, 0, 0, 0, 260, 261, 1, 0, 0, 0, 261,
		262, 1, 0, 0, 0, 262, 263, 3, 28, 14, 0, 263, 274, 1, 0, 0, 0, 264, 274,
		5, 2, 0, 0, 265, 266, 5, 20, 0, 0, 266, 274, 3, 44, 22, 0, 267, 268, 5,
		21, 0, 0, 268, 274, 3, 44, 22, 0, 269, 274, 5, 25, 0, 0, 270, 274, 5, 23,
		0, 0, 271, 274, 5, 24, 0, 0, 272, 274, 3, 44, 22, 0, 273, 217, 1, 0, 0,
		0, 273, 218, 1, 0, 0, 0, 273, 219, 1, 0, 0, 0, 273, 225, 1, 0, 0, 0, 273,
		227, 1, 0, 0, 0, 273, 233, 1, 0, 0, 0, 273, 248, 1, 0, 0, 0, 273, 254,
		1, 0, 0, 0, 273, 264, 1, 0, 0, 0, 273, 265, 1, 0, 0, 0, 273, 267, 1, 0,
		0, 0, 273, 269, 1, 0, 0, 0, 273, 270, 1, 0, 0, 0, 273, 271, 1, 0, 0, 0,
		273, 272, 1, 0, 0, 0, 274, 31, 1, 0, 0, 0, 275, 276, 3, 34, 17, 0, 276,
		277, 5, 18, 0, 0, 277, 289, 3, 42, 21, 0, 278, 279, 5, 77, 0, 0, 279, 284,
		3, 54, 27, 0, 280, 281, 5, 80, 0, 0, 281, 283, 3, 54, 27, 0, 282, 280,
		1, 0, 0, 0, 283, 286, 1, 0, 0, 0, 284, 282, 1, 0, 0, 0, 284, 285, 1, 0,
		0, 0, 285, 287, 1, 0, 0, 0, 286, 284, 1, 0, 0, 0, 287, 288, 5, 78, 0, 0,
		288, 290, 1, 0, 0, 0, 289, 278, 1, 0, 0, 0, 289, 290, 1, 0, 0, 0, 290,
		292, 1, 0, 0, 0, 291, 293, 5, 31, 0, 0, 292, 291, 1, 0, 0, 0, 292, 293,
		1, 0, 0, 0, 293, 295, 1, 0, 0, 0, 294, 296, 3, 40, 20, 0, 295, 294, 1,
		0, 0, 0, 295, 296, 1, 0, 0, 0, 296, 299, 1, 0, 0, 0, 297, 298, 5, 19, 0,
		0, 298, 300, 3, 44, 22, 0, 299, 297, 1, 0, 0, 0, 299, 300, 1, 0, 0, 0,
		300, 33, 1, 0, 0, 0, 301, 307, 3, 38, 19, 0, 302, 305, 5, 86, 0, 0, 303,
		306, 3, 36, 18, 0, 304, 306, 3, 38, 19, 0, 305, 303, 1, 0, 0, 0, 305, 304,
		1, 0, 0, 0, 306, 308, 1, 0, 0, 0, 307, 302, 1, 0, 0, 0, 307, 308, 1, 0,
		0, 0, 308, 311, 1, 0, 0, 0, 309, 311, 3, 36, 18, 0, 310, 301, 1, 0, 0,
		0, 310, 309, 1, 0, 0, 0, 311, 35, 1, 0, 0, 0, 312, 313, 5, 8, 0, 0, 313,
		318, 3, 38, 19, 0, 314, 315, 5, 80, 0, 0, 315, 317, 3, 38, 19, 0, 316,
		314, 1, 0, 0, 0, 317, 320, 1, 0, 0, 0, 318, 316, 1, 0, 0, 0, 318, 319,
		1, 0, 0, 0, 319, 321, 1, 0, 0, 0, 320, 318, 1, 0, 0, 0, 321, 322, 5, 78,
		0, 0, 322, 37, 1, 0, 0, 0, 323, 325, 5, 34, 0, 0, 324, 326, 3, 40, 20,
		0, 325, 324, 1, 0, 0, 0, 325, 326, 1, 0, 0, 0, 326, 39, 1, 0, 0, 0, 327,
		328, 7, 6, 0, 0, 328, 41, 1, 0, 0, 0, 329, 332, 5, 34, 0, 0, 330, 332,
		3, 52, 26, 0, 331, 329, 1, 0, 0, 0, 331, 330, 1, 0, 0, 0, 332, 43, 1, 0,
		0, 0, 333, 344, 3, 48, 24, 0, 334, 335, 3, 46, 23, 0, 335, 336, 3, 48,
		24, 0, 336, 343, 1, 0, 0, 0, 337, 338, 5, 82, 0, 0, 338, 339, 3, 44, 22,
		0, 339, 340, 5, 83, 0, 0, 340, 341, 3, 48, 24, 0, 341, 343, 1, 0, 0, 0,
		342, 334, 1, 0, 0, 0, 342, 337, 1, 0, 0, 0, 343, 346, 1, 0, 0, 0, 344,
		342, 1, 0, 0, 0, 344, 345, 1, 0, 0, 0, 345, 45, 1, 0, 0, 0, 346, 344, 1,
		0, 0, 0, 347, 348, 7, 7, 0, 0, 348, 47, 1, 0, 0, 0, 349, 351, 7, 8, 0,
		0, 350, 349, 1, 0, 0, 0, 351, 354, 1, 0, 0, 0, 352, 350, 1, 0, 0, 0, 352,
		353, 1, 0, 0, 0, 353, 355, 1, 0, 0, 0, 354, 352, 1, 0, 0, 0, 355, 359,
		3, 50, 25, 0, 356, 358, 3, 56, 28, 0, 357, 356, 1, 0, 0, 0, 358, 361, 1,
		0, 0, 0, 359, 357, 1, 0, 0, 0, 359, 360, 1, 0, 0, 0, 360, 363, 1, 0, 0,
		0, 361, 359, 1, 0, 0, 0, 362, 364, 7, 9, 0, 0, 363, 362, 1, 0, 0, 0, 363,
		364, 1, 0, 0, 0, 364, 49, 1, 0, 0, 0, 365, 366, 5, 73, 0, 0, 366, 367,
		3, 44, 22, 0, 367, 368, 5, 74, 0, 0, 368, 393, 1, 0, 0, 0, 369, 393, 3,
		52, 26, 0, 370, 371, 5, 8, 0, 0, 371, 376, 3, 54, 27, 0, 372, 373, 5, 80,
		0, 0, 373, 375, 3, 54, 27, 0, 374, 372, 1, 0, 0, 0, 375, 378, 1, 0, 0,
		0, 376, 374, 1, 0, 0, 0, 376, 377, 1, 0, 0, 0, 377, 379, 1, 0, 0, 0, 378,
		376, 1, 0, 0, 0, 379, 380, 5, 78, 0, 0, 380, 393, 1, 0, 0, 0, 381, 393,
		5, 34, 0, 0, 382, 393, 5, 32, 0, 0, 383, 393, 5, 37, 0, 0, 384, 393, 5,
		35, 0, 0, 385, 389, 5, 36, 0, 0, 386, 388, 5, 9, 0, 0, 387, 386, 1, 0,
		0, 0, 388, 391, 1, 0, 0, 0, 389, 387, 1, 0, 0, 0, 389, 390, 1, 0, 0, 0,
		390, 393, 1, 0, 0, 0, 391, 389, 1, 0, 0, 0, 392, 365, 1, 0, 0, 0, 392,
		369, 1, 0, 0, 0, 392, 370, 1, 0, 0, 0, 392, 381, 1, 0, 0, 0, 392, 382,
		1, 0, 0, 0, 392, 383, 1, 0, 0, 0, 392, 384, 1, 0, 0, 0, 392, 385, 1, 0,
		0, 0, 393, 51, 1, 0, 0, 0, 394, 395, 5, 1, 0, 0, 395, 404, 5, 73, 0, 0,
		396, 401, 3, 54, 27, 0, 397, 398, 5, 80, 0, 0, 398, 400, 3, 54, 27, 0,
		399, 397, 1, 0, 0, 0, 400, 403, 1, 0, 0, 0, 401, 399, 1, 0, 0, 0, 401,
		402, 1, 0, 0, 0, 402, 405, 1, 0, 0, 0, 403, 401, 1, 0, 0, 0, 404, 396,
		1, 0, 0, 0, 404, 405, 1, 0, 0, 0, 405, 406, 1, 0, 0, 0, 406, 407, 5, 74,
		0, 0, 407, 53, 1, 0, 0, 0, 408, 411, 5, 89, 0, 0, 409, 411, 3, 44, 22,
		0, 410, 408, 1, 0, 0, 0, 410, 409, 1, 0, 0, 0, 411, 55, 1, 0, 0, 0, 412,
		413, 5, 77, 0, 0, 413, 418, 3, 54, 27, 0, 414, 415, 5, 80, 0, 0, 415, 417,
		3, 54, 27, 0, 416, 414, 1, 0, 0, 0, 417, 420, 1, 0, 0, 0, 418, 416, 1,
		0, 0, 0, 418, 419, 1, 0, 0, 0, 419, 421, 1, 0, 0, 0, 420, 418, 1, 0, 0,
		0, 421, 422, 5, 78, 0, 0, 422, 427, 1, 0, 0, 0, 423, 424, 5, 70, 0, 0,
		424, 427, 7, 10, 0, 0, 425, 427, 5, 33, 0, 0, 426, 412, 1, 0, 0, 0, 426,
		423, 1, 0, 0, 0, 426, 425, 1, 0, 0, 0, 427, 57, 1, 0, 0, 0, 55, 67, 74,
		82, 88, 95, 106, 110, 117, 122, 128, 134, 143, 147, 151, 157, 161, 166,
		174, 177, 182, 186, 191, 196, 203, 206, 212, 236, 240, 244, 260, 273, 284,
		289, 292, 295, 299, 305, 307, 310, 318, 325, 331, 342, 344, 352, 359, 363,
		376, 389, 392, 401, 404, 410, 418, 426,
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
	StapParserPROBE         = 10
	StapParserGLOBAL        = 11
	StapParserPRIVATE       = 12
	StapParserFUNCTION      = 13
	StapParserIF            = 14
	StapParserELSE          = 15
	StapParserFOR           = 16
	StapParserFOREACH       = 17
	StapParserIN            = 18
	StapParserLIMIT         = 19
	StapParserRETURN        = 20
	StapParserDELETE        = 21
	StapParserWHILE         = 22
	StapParserBREAK         = 23
	StapParserCONTINUE      = 24
	StapParserNEXT          = 25
	StapParserSTRING_T      = 26
	StapParserLONG_T        = 27
	StapParserTRY           = 28
	StapParserCATCH         = 29
	StapParserARG           = 30
	StapParserATWORD        = 31
	StapParserTARGET        = 32
	StapParserDOLLARS       = 33
	StapParserID            = 34
	StapParserNUMBER        = 35
	StapParserSTRING        = 36
	StapParserEMBEDDED      = 37
	StapParserOPEN_STRING   = 38
	StapParserOPEN_EMBEDDED = 39
	StapParserOPEN_COMMENT  = 40
	StapParserCOMMENT       = 41
	StapParserWS            = 42
	StapParserPP_IF         = 43
	StapParserPP_THEN       = 44
	StapParserPP_ELSE       = 45
	StapParserPP_END        = 46
	StapParserSHR3          = 47
	StapParserAGG           = 48
	StapParserSHL_A         = 49
	StapParserSHR_A         = 50
	StapParserEQ            = 51
	StapParserNE            = 52
	StapParserLE            = 53
	StapParserGE            = 54
	StapParserMATCH         = 55
	StapParserNMATCH        = 56
	StapParserADD_A         = 57
	StapParserSUB_A         = 58
	StapParserMUL_A         = 59
	StapParserDIV_A         = 60
	StapParserMOD_A         = 61
	StapParserAND_A         = 62
	StapParserXOR_A         = 63
	StapParserOR_A          = 64
	StapParserCAT_A         = 65
	StapParserANDAND        = 66
	StapParserOROR          = 67
	StapParserINC           = 68
	StapParserDEC           = 69
	StapParserARROW         = 70
	StapParserSHL           = 71
	StapParserSHR           = 72
	StapParserLPAREN        = 73
	StapParserRPAREN        = 74
	StapParserLBRACE        = 75
	StapParserRBRACE        = 76
	StapParserLBRACK        = 77
	StapParserRBRACK        = 78
	StapParserSEMI          = 79
	StapParserCOMMA         = 80
	StapParserDOT           = 81
	StapParserQUEST         = 82
	StapParserCOLON         = 83
	StapParserBANG          = 84
	StapParserTILDE         = 85
	StapParserASSIGN        = 86
	StapParserPLUS          = 87
	StapParserMINUS         = 88
	StapParserSTAR          = 89
	StapParserSLASH         = 90
	StapParserMOD           = 91
	StapParserAND           = 92
	StapParserXOR           = 93
	StapParserOR            = 94
	StapParserLT            = 95
	StapParserGT            = 96
	StapParserJUNK          = 97
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
	StapParserRULE_function    = 10
	StapParserRULE_param       = 11
	StapParserRULE_type        = 12
	StapParserRULE_literal     = 13
	StapParserRULE_block       = 14
	StapParserRULE_stmt        = 15
	StapParserRULE_foreachHead = 16
	StapParserRULE_foreachKeys = 17
	StapParserRULE_keyList     = 18
	StapParserRULE_key         = 19
	StapParserRULE_sort        = 20
	StapParserRULE_foreachBase = 21
	StapParserRULE_expr        = 22
	StapParserRULE_binop       = 23
	StapParserRULE_unary       = 24
	StapParserRULE_primary     = 25
	StapParserRULE_call        = 26
	StapParserRULE_arg         = 27
	StapParserRULE_suffix      = 28
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
	p.SetState(67)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserPROBE:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(58)
			p.Probe()
		}

	case StapParserGLOBAL:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(59)
			p.Match(StapParserGLOBAL)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(60)
			p.Globals()
		}

	case StapParserPRIVATE:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(61)
			p.Match(StapParserPRIVATE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(62)
			p.PrivateItem()
		}

	case StapParserFUNCTION:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(63)
			p.Match(StapParserFUNCTION)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(64)
			p.Function()
		}

	case StapParserEMBEDDED:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(65)
			p.Match(StapParserEMBEDDED)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserEOF:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(66)
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
	p.SetState(74)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserFUNCTION:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(69)
			p.Match(StapParserFUNCTION)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(70)
			p.Function()
		}

	case StapParserGLOBAL:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(71)
			p.Match(StapParserGLOBAL)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(72)
			p.Globals()
		}

	case StapParserID:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(73)
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
		p.SetState(76)
		p.Match(StapParserPROBE)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(77)
		p.Points()
	}
	p.SetState(82)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserADD_A || _la == StapParserASSIGN {
		{
			p.SetState(78)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserADD_A || _la == StapParserASSIGN) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}
		{
			p.SetState(79)
			p.Points()
		}

		p.SetState(84)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(85)
		p.Block()
	}
	p.SetState(88)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOMMA {
		{
			p.SetState(86)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(87)
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
		p.SetState(90)
		p.Point()
	}
	p.SetState(95)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(91)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(92)
			p.Point()
		}

		p.SetState(97)
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
		p.SetState(98)
		p.Points()
	}
	{
		p.SetState(99)
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
		p.SetState(101)
		p.Comp()
	}
	p.SetState(106)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserDOT {
		{
			p.SetState(102)
			p.Match(StapParserDOT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(103)
			p.Comp()
		}

		p.SetState(108)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(110)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserQUEST || _la == StapParserBANG {
		{
			p.SetState(109)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserQUEST || _la == StapParserBANG) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

	}
	p.SetState(117)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserIF {
		{
			p.SetState(112)
			p.Match(StapParserIF)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(113)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(114)
			p.Expr()
		}
		{
			p.SetState(115)
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

	p.SetState(134)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserFUNC_NAME, StapParserID, StapParserNUMBER, StapParserSTAR:
		p.EnterOuterAlt(localctx, 1)
		p.SetState(120)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for ok := true; ok; ok = ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&51539607554) != 0) || _la == StapParserSTAR {
			{
				p.SetState(119)
				p.NamePart()
			}

			p.SetState(122)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		p.SetState(128)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserLPAREN {
			{
				p.SetState(124)
				p.Match(StapParserLPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(125)
				p.Literal()
			}
			{
				p.SetState(126)
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
			p.SetState(130)
			p.Match(StapParserLBRACE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(131)
			p.Points()
		}
		{
			p.SetState(132)
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
		p.SetState(136)
		_la = p.GetTokenStream().LA(1)

		if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&51539607554) != 0) || _la == StapParserSTAR) {
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
		p.SetState(138)
		p.GlobalVar()
	}
	p.SetState(143)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(139)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(140)
			p.GlobalVar()
		}

		p.SetState(145)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(147)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserSEMI {
		{
			p.SetState(146)
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
		p.SetState(149)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(151)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserMOD {
		{
			p.SetState(150)
			p.Match(StapParserMOD)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(157)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserLIST_OPEN || _la == StapParserLBRACK {
		{
			p.SetState(153)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserLIST_OPEN || _la == StapParserLBRACK) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}
		{
			p.SetState(154)
			p.Literal()
		}
		{
			p.SetState(155)
			p.Match(StapParserRBRACK)
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

	if _la == StapParserASSIGN {
		{
			p.SetState(159)
			p.Match(StapParserASSIGN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(160)
			p.Literal()
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
	p.EnterRule(localctx, 20, StapParserRULE_function)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(163)
		_la = p.GetTokenStream().LA(1)

		if !((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&17381195778) != 0) {
			p.GetErrorHandler().RecoverInline(p)
		} else {
			p.GetErrorHandler().ReportMatch(p)
			p.Consume()
		}
	}
	p.SetState(166)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(164)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(165)
			p.Type_()
		}

	}
	{
		p.SetState(168)
		p.Match(StapParserLPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(177)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserID {
		{
			p.SetState(169)
			p.Param()
		}
		p.SetState(174)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(170)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(171)
				p.Param()
			}

			p.SetState(176)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	}
	{
		p.SetState(179)
		p.Match(StapParserRPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(182)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(180)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(181)
			p.Literal()
		}

	}
	p.SetState(186)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLBRACE:
		{
			p.SetState(184)
			p.Block()
		}

	case StapParserEMBEDDED:
		{
			p.SetState(185)
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
	p.EnterRule(localctx, 22, StapParserRULE_param)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(188)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(191)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserCOLON {
		{
			p.SetState(189)
			p.Match(StapParserCOLON)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(190)
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
	p.EnterRule(localctx, 24, StapParserRULE_type)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(193)
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
	p.EnterRule(localctx, 26, StapParserRULE_literal)
	var _la int

	p.SetState(206)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserU_MINUS, StapParserNUMBER:
		p.EnterOuterAlt(localctx, 1)
		p.SetState(196)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserU_MINUS {
			{
				p.SetState(195)
				p.Match(StapParserU_MINUS)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

		}
		{
			p.SetState(198)
			p.Match(StapParserNUMBER)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserSTRING:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(199)
			p.Match(StapParserSTRING)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(203)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserSTRING_MORE {
			{
				p.SetState(200)
				p.Match(StapParserSTRING_MORE)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

			p.SetState(205)
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
	p.EnterRule(localctx, 28, StapParserRULE_block)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(208)
		p.Match(StapParserLBRACE)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(212)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&262327747070) != 0) || ((int64((_la-73)) & ^0x3f) == 0 && ((int64(1)<<(_la-73))&6213) != 0) {
		{
			p.SetState(209)
			p.Stmt()
		}

		p.SetState(214)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(215)
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
	p.EnterRule(localctx, 30, StapParserRULE_stmt)
	p.Enter()
	var _la int

	p.SetState(273)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserSEMI:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(217)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserLBRACE:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(218)
			p.Block()
		}

	case StapParserIF:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(219)
			p.Match(StapParserIF)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(220)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(221)
			p.Expr()
		}
		{
			p.SetState(222)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(223)
			p.Stmt()
		}

	case StapParserELSE:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(225)
			p.Match(StapParserELSE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(226)
			p.Stmt()
		}

	case StapParserWHILE:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(227)
			p.Match(StapParserWHILE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(228)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(229)
			p.Expr()
		}
		{
			p.SetState(230)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(231)
			p.Stmt()
		}

	case StapParserFOR:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(233)
			p.Match(StapParserFOR)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(234)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(236)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&261993005562) != 0) || ((int64((_la-73)) & ^0x3f) == 0 && ((int64(1)<<(_la-73))&6145) != 0) {
			{
				p.SetState(235)
				p.Expr()
			}

		}
		{
			p.SetState(238)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(240)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&261993005562) != 0) || ((int64((_la-73)) & ^0x3f) == 0 && ((int64(1)<<(_la-73))&6145) != 0) {
			{
				p.SetState(239)
				p.Expr()
			}

		}
		{
			p.SetState(242)
			p.Match(StapParserSEMI)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(244)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&261993005562) != 0) || ((int64((_la-73)) & ^0x3f) == 0 && ((int64(1)<<(_la-73))&6145) != 0) {
			{
				p.SetState(243)
				p.Expr()
			}

		}
		{
			p.SetState(246)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(247)
			p.Stmt()
		}

	case StapParserFOREACH:
		p.EnterOuterAlt(localctx, 7)
		{
			p.SetState(248)
			p.Match(StapParserFOREACH)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(249)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(250)
			p.ForeachHead()
		}
		{
			p.SetState(251)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(252)
			p.Stmt()
		}

	case StapParserTRY:
		p.EnterOuterAlt(localctx, 8)
		{
			p.SetState(254)
			p.Match(StapParserTRY)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(255)
			p.Block()
		}
		{
			p.SetState(256)
			p.Match(StapParserCATCH)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(260)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserLPAREN {
			{
				p.SetState(257)
				p.Match(StapParserLPAREN)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(258)
				p.Match(StapParserID)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
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

		}
		{
			p.SetState(262)
			p.Block()
		}

	case StapParserRETURN_VOID:
		p.EnterOuterAlt(localctx, 9)
		{
			p.SetState(264)
			p.Match(StapParserRETURN_VOID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserRETURN:
		p.EnterOuterAlt(localctx, 10)
		{
			p.SetState(265)
			p.Match(StapParserRETURN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(266)
			p.Expr()
		}

	case StapParserDELETE:
		p.EnterOuterAlt(localctx, 11)
		{
			p.SetState(267)
			p.Match(StapParserDELETE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(268)
			p.Expr()
		}

	case StapParserNEXT:
		p.EnterOuterAlt(localctx, 12)
		{
			p.SetState(269)
			p.Match(StapParserNEXT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserBREAK:
		p.EnterOuterAlt(localctx, 13)
		{
			p.SetState(270)
			p.Match(StapParserBREAK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserCONTINUE:
		p.EnterOuterAlt(localctx, 14)
		{
			p.SetState(271)
			p.Match(StapParserCONTINUE)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME, StapParserU_MINUS, StapParserU_PLUS, StapParserADDR, StapParserPRE_INC, StapParserPRE_DEC, StapParserLIST_OPEN, StapParserTARGET, StapParserID, StapParserNUMBER, StapParserSTRING, StapParserEMBEDDED, StapParserLPAREN, StapParserBANG, StapParserTILDE:
		p.EnterOuterAlt(localctx, 15)
		{
			p.SetState(272)
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
	LBRACK() antlr.TerminalNode
	AllArg() []IArgContext
	Arg(i int) IArgContext
	RBRACK() antlr.TerminalNode
	ATWORD() antlr.TerminalNode
	Sort() ISortContext
	LIMIT() antlr.TerminalNode
	Expr() IExprContext
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
	p.EnterRule(localctx, 32, StapParserRULE_foreachHead)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(275)
		p.ForeachKeys()
	}
	{
		p.SetState(276)
		p.Match(StapParserIN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(277)
		p.ForeachBase()
	}
	p.SetState(289)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserLBRACK {
		{
			p.SetState(278)
			p.Match(StapParserLBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(279)
			p.Arg()
		}
		p.SetState(284)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(280)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(281)
				p.Arg()
			}

			p.SetState(286)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		{
			p.SetState(287)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(292)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserATWORD {
		{
			p.SetState(291)
			p.Match(StapParserATWORD)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	}
	p.SetState(295)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserPLUS || _la == StapParserMINUS {
		{
			p.SetState(294)
			p.Sort()
		}

	}
	p.SetState(299)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserLIMIT {
		{
			p.SetState(297)
			p.Match(StapParserLIMIT)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(298)
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
	p.EnterRule(localctx, 34, StapParserRULE_foreachKeys)
	var _la int

	p.SetState(310)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserID:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(301)
			p.Key()
		}
		p.SetState(307)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		if _la == StapParserASSIGN {
			{
				p.SetState(302)
				p.Match(StapParserASSIGN)
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
			case StapParserLIST_OPEN:
				{
					p.SetState(303)
					p.KeyList()
				}

			case StapParserID:
				{
					p.SetState(304)
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
			p.SetState(309)
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
	p.EnterRule(localctx, 36, StapParserRULE_keyList)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(312)
		p.Match(StapParserLIST_OPEN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(313)
		p.Key()
	}
	p.SetState(318)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for _la == StapParserCOMMA {
		{
			p.SetState(314)
			p.Match(StapParserCOMMA)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(315)
			p.Key()
		}

		p.SetState(320)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(321)
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
	p.EnterRule(localctx, 38, StapParserRULE_key)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(323)
		p.Match(StapParserID)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(325)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserPLUS || _la == StapParserMINUS {
		{
			p.SetState(324)
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
	p.EnterRule(localctx, 40, StapParserRULE_sort)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(327)
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
	p.EnterRule(localctx, 42, StapParserRULE_foreachBase)
	p.SetState(331)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserID:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(329)
			p.Match(StapParserID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(330)
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
	p.EnterRule(localctx, 44, StapParserRULE_expr)
	p.Enter()
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(333)
		p.Unary()
	}
	p.SetState(344)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&-140737488093184) != 0) || ((int64((_la-64)) & ^0x3f) == 0 && ((int64(1)<<(_la-64))&8586133903) != 0) {
		p.SetState(342)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}

		switch p.GetTokenStream().LA(1) {
		case StapParserIN, StapParserSHR3, StapParserAGG, StapParserSHL_A, StapParserSHR_A, StapParserEQ, StapParserNE, StapParserLE, StapParserGE, StapParserMATCH, StapParserNMATCH, StapParserADD_A, StapParserSUB_A, StapParserMUL_A, StapParserDIV_A, StapParserMOD_A, StapParserAND_A, StapParserXOR_A, StapParserOR_A, StapParserCAT_A, StapParserANDAND, StapParserOROR, StapParserSHL, StapParserSHR, StapParserDOT, StapParserASSIGN, StapParserPLUS, StapParserMINUS, StapParserSTAR, StapParserSLASH, StapParserMOD, StapParserAND, StapParserXOR, StapParserOR, StapParserLT, StapParserGT:
			{
				p.SetState(334)
				p.Binop()
			}
			{
				p.SetState(335)
				p.Unary()
			}

		case StapParserQUEST:
			{
				p.SetState(337)
				p.Match(StapParserQUEST)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(338)
				p.Expr()
			}
			{
				p.SetState(339)
				p.Match(StapParserCOLON)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(340)
				p.Unary()
			}

		default:
			p.SetError(antlr.NewNoViableAltException(p, nil, nil, nil, nil, nil))
			goto errorExit
		}

		p.SetState(346)
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
	p.EnterRule(localctx, 46, StapParserRULE_binop)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(347)
		_la = p.GetTokenStream().LA(1)

		if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&-140737488093184) != 0) || ((int64((_la-64)) & ^0x3f) == 0 && ((int64(1)<<(_la-64))&8585871759) != 0)) {
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
	p.EnterRule(localctx, 48, StapParserRULE_unary)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	p.SetState(352)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&248) != 0) || _la == StapParserBANG || _la == StapParserTILDE {
		{
			p.SetState(349)
			_la = p.GetTokenStream().LA(1)

			if !(((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&248) != 0) || _la == StapParserBANG || _la == StapParserTILDE) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

		p.SetState(354)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	{
		p.SetState(355)
		p.Primary()
	}
	p.SetState(359)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	for (int64((_la-33)) & ^0x3f) == 0 && ((int64(1)<<(_la-33))&17729624997889) != 0 {
		{
			p.SetState(356)
			p.Suffix()
		}

		p.SetState(361)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)
	}
	p.SetState(363)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if _la == StapParserINC || _la == StapParserDEC {
		{
			p.SetState(362)
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
	p.EnterRule(localctx, 50, StapParserRULE_primary)
	var _la int

	p.SetState(392)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLPAREN:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(365)
			p.Match(StapParserLPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(366)
			p.Expr()
		}
		{
			p.SetState(367)
			p.Match(StapParserRPAREN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(369)
			p.Call()
		}

	case StapParserLIST_OPEN:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(370)
			p.Match(StapParserLIST_OPEN)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(371)
			p.Arg()
		}
		p.SetState(376)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(372)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(373)
				p.Arg()
			}

			p.SetState(378)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		{
			p.SetState(379)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserID:
		p.EnterOuterAlt(localctx, 4)
		{
			p.SetState(381)
			p.Match(StapParserID)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserTARGET:
		p.EnterOuterAlt(localctx, 5)
		{
			p.SetState(382)
			p.Match(StapParserTARGET)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserEMBEDDED:
		p.EnterOuterAlt(localctx, 6)
		{
			p.SetState(383)
			p.Match(StapParserEMBEDDED)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserNUMBER:
		p.EnterOuterAlt(localctx, 7)
		{
			p.SetState(384)
			p.Match(StapParserNUMBER)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserSTRING:
		p.EnterOuterAlt(localctx, 8)
		{
			p.SetState(385)
			p.Match(StapParserSTRING)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		p.SetState(389)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserSTRING_MORE {
			{
				p.SetState(386)
				p.Match(StapParserSTRING_MORE)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}

			p.SetState(391)
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
	p.EnterRule(localctx, 52, StapParserRULE_call)
	var _la int

	p.EnterOuterAlt(localctx, 1)
	{
		p.SetState(394)
		p.Match(StapParserFUNC_NAME)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	{
		p.SetState(395)
		p.Match(StapParserLPAREN)
		if p.HasError() {
			// Recognition error - abort rule
			goto errorExit
		}
	}
	p.SetState(404)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}
	_la = p.GetTokenStream().LA(1)

	if ((int64(_la) & ^0x3f) == 0 && ((int64(1)<<_la)&261993005562) != 0) || ((int64((_la-73)) & ^0x3f) == 0 && ((int64(1)<<(_la-73))&71681) != 0) {
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

		for _la == StapParserCOMMA {
			{
				p.SetState(397)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(398)
				p.Arg()
			}

			p.SetState(403)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}

	}
	{
		p.SetState(406)
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
	p.EnterRule(localctx, 54, StapParserRULE_arg)
	p.SetState(410)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserSTAR:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(408)
			p.Match(StapParserSTAR)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserFUNC_NAME, StapParserU_MINUS, StapParserU_PLUS, StapParserADDR, StapParserPRE_INC, StapParserPRE_DEC, StapParserLIST_OPEN, StapParserTARGET, StapParserID, StapParserNUMBER, StapParserSTRING, StapParserEMBEDDED, StapParserLPAREN, StapParserBANG, StapParserTILDE:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(409)
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
	AllArg() []IArgContext
	Arg(i int) IArgContext
	RBRACK() antlr.TerminalNode
	AllCOMMA() []antlr.TerminalNode
	COMMA(i int) antlr.TerminalNode
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

func (s *SuffixContext) RBRACK() antlr.TerminalNode {
	return s.GetToken(StapParserRBRACK, 0)
}

func (s *SuffixContext) AllCOMMA() []antlr.TerminalNode {
	return s.GetTokens(StapParserCOMMA)
}

func (s *SuffixContext) COMMA(i int) antlr.TerminalNode {
	return s.GetToken(StapParserCOMMA, i)
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
	p.EnterRule(localctx, 56, StapParserRULE_suffix)
	var _la int

	p.SetState(426)
	p.GetErrorHandler().Sync(p)
	if p.HasError() {
		goto errorExit
	}

	switch p.GetTokenStream().LA(1) {
	case StapParserLBRACK:
		p.EnterOuterAlt(localctx, 1)
		{
			p.SetState(412)
			p.Match(StapParserLBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(413)
			p.Arg()
		}
		p.SetState(418)
		p.GetErrorHandler().Sync(p)
		if p.HasError() {
			goto errorExit
		}
		_la = p.GetTokenStream().LA(1)

		for _la == StapParserCOMMA {
			{
				p.SetState(414)
				p.Match(StapParserCOMMA)
				if p.HasError() {
					// Recognition error - abort rule
					goto errorExit
				}
			}
			{
				p.SetState(415)
				p.Arg()
			}

			p.SetState(420)
			p.GetErrorHandler().Sync(p)
			if p.HasError() {
				goto errorExit
			}
			_la = p.GetTokenStream().LA(1)
		}
		{
			p.SetState(421)
			p.Match(StapParserRBRACK)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}

	case StapParserARROW:
		p.EnterOuterAlt(localctx, 2)
		{
			p.SetState(423)
			p.Match(StapParserARROW)
			if p.HasError() {
				// Recognition error - abort rule
				goto errorExit
			}
		}
		{
			p.SetState(424)
			_la = p.GetTokenStream().LA(1)

			if !(_la == StapParserDOLLARS || _la == StapParserID) {
				p.GetErrorHandler().RecoverInline(p)
			} else {
				p.GetErrorHandler().ReportMatch(p)
				p.Consume()
			}
		}

	case StapParserDOLLARS:
		p.EnterOuterAlt(localctx, 3)
		{
			p.SetState(425)
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
