public import CacheDomain
public import StorageSPI

extension StorageError {
  /// Whether the error, by which a listing has ended, is about the entry under `key`: then its message names it. It may be
  /// about one before it of which not even the key can be read, and which no check can name therefore.
  ///
  /// The key has to stand there as a word: `movies/1` is not named by "entry movies/10 cannot be read". A final colon,
  /// comma or quotation mark belongs to the message.
  func isAbout(_ key: CacheKey) -> Bool {
    message.split(separator: " ").contains { word in
      word.drop(while: Self.isPunctuation).hasPrefix(key.text)
        && word.drop(while: Self.isPunctuation).dropFirst(key.text.count).allSatisfy(Self.isPunctuation)
    }
  }

  private static func isPunctuation(_ character: Character) -> Bool { ":,;.'\"()".contains(character) }
}

extension CacheError {
  /// The error of the domain for a failure of the storage: same code, message and hint.
  public init(_ error: StorageError) {
    self.init(Code(rawValue: error.code.rawValue), error.message, hint: error.hint, cause: error)
  }
}
