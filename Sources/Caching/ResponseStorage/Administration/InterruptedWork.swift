internal import FetchVocabulary

extension CacheError {
  /// The error for `work` that was cancelled, with the progress it made.
  ///
  /// - Parameter progress: for example `EntryProgress.text(12, "imported")`.
  static func interruption(of work: String, _ progress: String, hint: String) -> CacheError {
    CacheError(.cancelled, "\(work) was interrupted: \(progress)", hint: hint)
  }
}

/// Describes the progress of work on many entries.
enum EntryProgress {
  /// The progress as a phrase: "12 entries were imported", if `verb` is "imported".
  static func text(_ count: Int, _ verb: String) -> String {
    switch count {
    case 0: "no entry was \(verb)"
    case 1: "one entry was \(verb)"
    default: "\(count) entries were \(verb)"
    }
  }
}
