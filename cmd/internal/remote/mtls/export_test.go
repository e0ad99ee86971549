package mtls

// LoadAt and OpenAt are Load and Open by another clock.
var (
	LoadAt = load
	OpenAt = open
)

// MostWaiting is how many guests are met at a time.
const MostWaiting = mostWaiting
