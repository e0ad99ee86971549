package sel

var everyLevel = levels

// LastLevel has handlers translated as those that need most stack, or as always.
func LastLevel(on bool) {
	levels = everyLevel
	if on {
		levels = everyLevel[len(everyLevel)-1:]
	}
}
