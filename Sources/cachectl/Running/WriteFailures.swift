internal import CacheDomain

/// Remembers whether the cache failed to keep an answer. The answer is shown all the same, with a warning; only
/// `--require-store` makes an error of it.
struct WriteFailures {
  private let isStoreRequired: Bool
  private var failure: CacheError?

  init(_ flags: FetchFlags) { isStoreRequired = flags.requireStore }

  /// Takes note of an answer that was fetched.
  mutating func note<Value>(_ snapshot: Snapshot<Value>) { note(snapshot.writeFailure) }

  /// Takes note of a failure to keep an answer; `nil` is none.
  mutating func note(_ failure: CacheError?) {
    if isStoreRequired { self.failure = self.failure ?? failure }
  }

  /// - Throws: `CacheError` with the code `ioFailed` where an answer had to be kept and was not.
  func check() throws(CacheError) {
    guard let failure else { return }
    throw CacheError(
      CacheError.Code(rawValue: "ioFailed"), "the answer is not in the cache, as --require-store demands",
      hint: "mend what the warning says, or leave out --require-store", cause: failure)
  }
}
