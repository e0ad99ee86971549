// Tokens of the stap language.
//
// The stream under this lexer gives bytes; every byte of a multi-byte character
// reads as U+0001, so the tables stay within ASCII and offsets are byte offsets.
// White space and comments come out as tokens: the filter in internal/pp drops
// them, since it needs to know which tokens touch (wildcards in probe points).
//
// The types in "tokens" are given by the filter, from what stands before and
// after a token. They make the parser grammar LL(1).
lexer grammar StapLexer;

tokens { FUNC_NAME, RETURN_VOID, U_MINUS, U_PLUS, ADDR, PRE_INC, PRE_DEC, LIST_OPEN, STRING_MORE, ASSERTION }

PROBE: 'probe';
GLOBAL: 'global';
PRIVATE: 'private';
FUNCTION: 'function';
IF: 'if';
ELSE: 'else';
FOR: 'for';
FOREACH: 'foreach';
IN: 'in';
LIMIT: 'limit';
RETURN: 'return';
DELETE: 'delete';
WHILE: 'while';
BREAK: 'break';
CONTINUE: 'continue';
NEXT: 'next';
STRING_T: 'string';
LONG_T: 'long';
TRY: 'try';
CATCH: 'catch';

ARG: [$@] ( [0-9]+ | '#' );
ATWORD: '@' [a-zA-Z_$] [a-zA-Z0-9_$]*;
TARGET: '$'+ [a-zA-Z_] [a-zA-Z0-9_$]*;
DOLLARS: '$'+;
ID: [a-zA-Z_] [a-zA-Z0-9_$]*;
NUMBER: [0-9] [a-zA-Z0-9]*;
STRING: '"' ( '\\' . | ~["\\\n] )* '"';
EMBEDDED: '%{' ( ~'%' | '%'+ ~[%}] )* '%'+ '}';

// What lacks its end: shorter than the closed form wherever that exists.
OPEN_STRING: '"' ( '\\' . | ~["\\\n] )*;
OPEN_EMBEDDED: '%{' ( ~'%' | '%'+ ~[%}] )*;
OPEN_COMMENT: '/*' ( ~'*' | '*'+ ~[*/] )*;

COMMENT: '#' ~[\n]* | '//' ~[\n]* | '/*' ( ~'*' | '*'+ ~[*/] )* '*'+ '/';
WS: [ \t\r\n\f\u000B]+;

PP_IF: '%(';
PP_THEN: '%?';
PP_ELSE: '%:';
PP_END: '%)';

SHR3: '>>>';
AGG: '<<<';
SHL_A: '<<=';
SHR_A: '>>=';
EQ: '==';
NE: '!=';
LE: '<=';
GE: '>=';
MATCH: '=~';
NMATCH: '!~';
ADD_A: '+=';
SUB_A: '-=';
MUL_A: '*=';
DIV_A: '/=';
MOD_A: '%=';
AND_A: '&=';
XOR_A: '^=';
OR_A: '|=';
CAT_A: '.=';
ANDAND: '&&';
OROR: '||';
INC: '++';
DEC: '--';
ARROW: '->';
SHL: '<<';
SHR: '>>';
LPAREN: '(';
RPAREN: ')';
LBRACE: '{';
RBRACE: '}';
LBRACK: '[';
RBRACK: ']';
SEMI: ';';
COMMA: ',';
DOT: '.';
QUEST: '?';
COLON: ':';
BANG: '!';
TILDE: '~';
ASSIGN: '=';
PLUS: '+';
MINUS: '-';
STAR: '*';
SLASH: '/';
MOD: '%';
AND: '&';
XOR: '^';
OR: '|';
LT: '<';
GT: '>';
JUNK: .;
