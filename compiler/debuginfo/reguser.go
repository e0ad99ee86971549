package debuginfo

// RegUser is implemented by Images that look at the code behind a site.
type RegUser interface {
	// RegDead reports whether every way from s on overwrites DWARF register reg, or returns, before anything reads
	// it, so that changing it there is in vain, and gives the register's name. false also when that is not known.
	RegDead(s Site, reg int) (name string, dead bool)
}
