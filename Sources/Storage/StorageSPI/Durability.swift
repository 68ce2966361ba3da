/// What a commit survives. The names mean the same on every engine; each engine's README says how it implements them.
public enum Durability: String, Sendable, CaseIterable {
  /// Every commit survives a power loss.
  case full
  /// A crash of the process loses nothing; a power loss may lose the last commits, but never consistency.
  case normal
  /// As fast as the engine can be: a crash of the process does not corrupt the store, but a power loss may.
  case relaxed
}
