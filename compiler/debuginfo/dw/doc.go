// Package dw reads ELF files and their DWARF for the readers of Go programs
// (godwarf) and of C programs (cdwarf).
//
// In: a path. Out, all of it lazily:
//
//   - File (OpenELF): headers, sections inflated and cached (Section), symbols (Symbols,
//     SymbolAt), addresses to file offsets and bytes (FileOffset, Bytes), the canonical
//     frame address and return address at a pc (Frame), detached debug files.
//   - Data (File.Data): units (Units, UnitAt), types (Type, TypeOf, NamedType), functions, inlined copies
//     and globals by name (FindFuncs, FindGlobals).
//   - trees of functions (Unit.FuncTree), the variables in scope at a pc (Scope), inlined copies (Inlined,
//     InlineStack); where variables live (Unit.Locations) and their places (Unit.VarPlace, Place).
//   - Unit: line rows (Rows), files, producer, language, base addresses.
//
// All addresses are the file's own virtual addresses. Entries are those of
// debug/dwarf; trees are Delve's godwarf.Tree, and operations of expressions have the
// names of its package op. Delve's readers are not run here but in tests: docs/rationale.md has why.
//
// # Foreign bytes
//
// Files are mapped, not read: a probe needs some KB out of binaries of 100 MB and more. Two
// things can then panic: a reader that trusts its input (parts of
// debug/dwarf do), and a page fault when the file shrinks under the map (SIGBUS). Guard turns both into
// errors; every function of this package that touches file bytes is under it, and so is every
// loader that it leaves behind in types. Callers that look into the slices that
// Section and Bytes return do so under their own Guard.
package dw
