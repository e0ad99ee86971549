// Package docs is these documents as files, for the command's help and its manual pages.
package docs

import "embed"

// Pages are the documents, NAME.md.
//
//go:embed *.md
var Pages embed.FS
