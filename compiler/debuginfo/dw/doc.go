// Package dw reads the DWARF of ELF files for the readers of Go programs
// (godwarf) and of C programs (cdwarf).
//
// In: an elffile.File. Out, all of it lazily:
//
//   - Data (Open): units (Units, UnitAt), types (Type, TypeOf, NamedType), functions, inlined copies
//     and globals by name (FindFuncs, FindGlobals).
//   - trees of functions (Unit.FuncTree), the variables in scope at a pc (Scope), inlined copies (Inlined,
//     InlineStack); where variables live (Unit.Locations) and their places (Unit.VarPlace).
//   - Unit: line rows (Rows), files, producer, language, base addresses.
//
// All addresses are the file's own virtual addresses. Entries are those of
// debug/dwarf; trees are Delve's godwarf.Tree. Delve's readers are not run here but in tests: docs/rationale.md has
// why.
//
// Sections are foreign bytes, as package elffile says. Parts of debug/dwarf trust their input and panic; every function
// here that touches file bytes is under foreign.Guard, and so is every loader that it leaves behind in types.
package dw
