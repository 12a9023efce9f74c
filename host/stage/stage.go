// Package stage is the on-disk form of a stage: an append-only log of effects
// and flat blobs beside it. host/sandbox writes it inside the worker;
// host/commit reads it back as hostile data. The package knows the format and
// its hard rules (bounds, checksums, canonical names); it knows no policy.
//
// Layout of a stage folder:
//
//	log      records: magic and version first, then length, checksum, effects
//	b/ID     content of node ID, a regular file
//
// A record is a list of effects that apply at once. Effects, not intentions,
// so that a reader rebuilds the view's changes without the lower layer.
package stage
