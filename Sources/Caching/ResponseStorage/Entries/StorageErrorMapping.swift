public import FetchVocabulary
public import StorageSPI

extension StorageError {
  /// Whether this error, which ended a listing, is about the entry under `key`: its message must name the key.
  /// Otherwise it may be about an earlier entry whose key cannot even be read, so that no check can name it.
  ///
  /// The key must be a whole word: "entry movies/10 cannot be read" does not name `movies/1`. Colons, commas and
  /// quotation marks around it belong to the message.
  func isAbout(_ key: CacheKey) -> Bool {
    message.split(separator: " ").contains { word in
      word.drop(while: Self.isPunctuation).hasPrefix(key.text)
        && word.drop(while: Self.isPunctuation).dropFirst(key.text.count).allSatisfy(Self.isPunctuation)
    }
  }

  private static func isPunctuation(_ character: Character) -> Bool { ":,;.'\"()".contains(character) }
}

extension CacheError {
  /// Translates a storage error into the domain's: same code, message and hint.
  public init(_ error: StorageError) {
    self.init(Code(rawValue: error.code.rawValue), error.message, hint: error.hint, cause: error)
  }
}
