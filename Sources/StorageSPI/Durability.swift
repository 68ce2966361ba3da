/// What a commit survives. The names mean the same on every engine; each engine's README says what it maps them to.
public enum Durability: String, Sendable, CaseIterable {
  /// Every commit survives loss of power.
  case full
  /// A crash of the process loses nothing; loss of power may lose the last commits, but never consistency.
  case normal
  /// As fast as the engine goes; a crash of the process still loses no consistency, loss of power may.
  case relaxed
}
