/// Says that a request went beyond its bounds.
struct OversizedRequest: Error {}
