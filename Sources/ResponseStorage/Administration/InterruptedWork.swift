internal import CacheDomain

extension CacheError {
  /// The error that `work` was cancelled, which says how far it came.
  ///
  /// - Parameter progress: such as `EntryProgress.text(12, "imported")`.
  static func interruption(of work: String, _ progress: String, hint: String) -> CacheError {
    CacheError(.cancelled, "\(work) was interrupted: \(progress)", hint: hint)
  }
}

/// How far something has come that is done to many entries.
enum EntryProgress {
  /// For example "12 entries were imported", where `verb` is "imported".
  static func text(_ count: Int, _ verb: String) -> String {
    switch count {
    case 0: "no entry was \(verb)"
    case 1: "one entry was \(verb)"
    default: "\(count) entries were \(verb)"
    }
  }
}
