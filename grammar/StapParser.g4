// The stap language after preprocessing, in LL(1) form: no decision looks further
// than one token, so the adaptive predictor is never entered.
//
// What the grammar leaves to internal/build: precedence (expr is a flat list),
// the if an else belongs to, which names touch in a wildcard, operand rules.
parser grammar StapParser;

options {
  tokenVocab = StapLexer;
  superClass = Base;
}

item
  : probe
  | GLOBAL globals
  | PRIVATE privateItem
  | FUNCTION function
  | EMBEDDED
  | EOF
  ;

privateItem
  : FUNCTION function
  | GLOBAL globals
  | globals
  ;

probe: PROBE points ( ( ASSIGN | ADD_A ) points )* block ( COMMA block )?;

points: point ( COMMA point )*;

// Points alone, as on a command line.
pointList: points EOF;

point: comp ( DOT comp )* ( QUEST | BANG )? ( IF LPAREN expr RPAREN )?;

comp
@init { p.Enter() }
@after { p.Leave() }
  : namePart+ ( LPAREN literal RPAREN )?
  | LBRACE points RBRACE
  ;

namePart: ID | FUNC_NAME | STAR | NUMBER;

globals: globalVar ( COMMA globalVar )* SEMI?;

globalVar: ID MOD? ( ( LBRACK | LIST_OPEN ) literal RBRACK )? ( ASSIGN literal )? attribute*;

// What a global is besides a variable: metric "requests_total" labels "path, status".
attribute: ID literal;

function
  : ( FUNC_NAME | ID | STRING_T | LONG_T ) ( COLON type )?
    LPAREN ( param ( COMMA param )* )? RPAREN ( COLON literal )? ( block | EMBEDDED )
  ;

param: ID ( COLON type )?;

type: STRING_T | LONG_T;

literal: U_MINUS? NUMBER | STRING STRING_MORE*;

block: LBRACE stmt* RBRACE;

stmt
@init { p.Enter() }
@after { p.Leave() }
  : SEMI
  | block
  | IF LPAREN expr RPAREN stmt
  | ELSE stmt
  | WHILE LPAREN expr RPAREN stmt
  | FOR LPAREN expr? SEMI expr? SEMI expr? RPAREN stmt
  | FOREACH LPAREN foreachHead RPAREN stmt
  | TRY block CATCH ( LPAREN ID RPAREN )? block
  | RETURN_VOID
  | RETURN expr
  | DELETE expr
  | NEXT
  | BREAK
  | CONTINUE
  | expr
  ;

foreachHead
  : foreachKeys IN ( foreachBase ( LBRACK arg ( COMMA arg )* RBRACK )? | foreachOver ) ATWORD? sort? ( LIMIT expr )?
  ;

// The first name is the value when "=" follows, else the only key.
foreachKeys
  : key ( ASSIGN ( keyList | key ) )?
  | keyList
  ;

keyList: LIST_OPEN key ( COMMA key )* RBRACK;

key: ID sort?;

sort: PLUS | MINUS;

foreachBase: ID | call;

// A variable of the program.
foreachOver: TARGET suffix*;

expr
@init { p.Enter() }
@after { p.Leave() }
  : unary ( binop unary | QUEST expr COLON unary )*
  ;

binop
  : STAR | SLASH | MOD | PLUS | MINUS | DOT | SHL | SHR | SHR3
  | LT | GT | LE | GE | EQ | NE | MATCH | NMATCH | IN
  | AND | XOR | OR | ANDAND | OROR
  | ASSIGN | AGG | ADD_A | SUB_A | MUL_A | DIV_A | MOD_A | SHL_A | SHR_A | AND_A | XOR_A | OR_A | CAT_A
  ;

unary
  : ( U_PLUS | U_MINUS | BANG | TILDE | ADDR | PRE_INC | PRE_DEC )* primary suffix* ( INC | DEC )?
  ;

primary
  : LPAREN expr RPAREN
  | call
  | LIST_OPEN arg ( COMMA arg )* RBRACK
  | ID
  | TARGET
  | EMBEDDED
  | NUMBER
  | STRING STRING_MORE*
  ;

call: FUNC_NAME LPAREN ( arg ( COMMA arg )* )? RPAREN;

arg: STAR | expr;

suffix
  : LBRACK ( arg ( COMMA arg )* ( COLON expr? )? | COLON expr? ) RBRACK
  | ASSERTION
  | ARROW ( ID | DOLLARS )
  | DOLLARS
  ;
