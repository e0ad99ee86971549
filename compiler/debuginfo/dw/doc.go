// Package dw reads the DWARF of ELF files for the readers of Go programs
// (godwarf) and of C programs (cdwarf).
//
// In: an elffile.File. Out, all of it lazily:
//
//   - Data (Open): units (Units, UnitAt), functions, inlined copies, globals and types by name (FindFuncs, FindGlobals,
//     FindTypeIn); what types are is for package dwtype.
//   - trees of functions (Unit.FuncTree), the variables in scope at a pc (Scope), inlined copies (Inlined,
//     InlineStack); where variables live (Unit.Locations) and their places (Unit.VarPlace).
//   - Unit: line rows (Rows), files, producer, language, base addresses.
//
// All addresses are the file's own virtual addresses. Entries are those of
// debug/dwarf; trees are Delve's godwarf.Tree. Delve's readers are not run here but in tests: docs/rationale.md has
// why.
//
// Sections are foreign bytes, as package elffile says. Parts of debug/dwarf trust their input and panic; every function
// here that touches file bytes is under foreign.Guard.
package dw
