internal import Base

/// The settings that the errors of libraries mention, by their full names: a library knows no section of the
/// configuration.
enum SettingNames {
  /// The limits of a store, which are in the section `cache`.
  private static let limits = ["maxEntries", "maxBytes", "maxEntryBytes"]

  /// `text` with the full names of settings: `cache.maxBytes` for the word maxBytes, and `'backends.b.a'` for
  /// "option 'a' of backend b".
  static func completed(in text: String) -> String {
    guard limits.contains(where: text.holds) || text.holds("' of backend ") else { return text }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    var (result, index) = ([String](), 0)
    while index < words.count {
      if let name = option(words[index...]) {
        if result.last == "the" { result.removeLast() }
        result.append(name)
        index += 5
      } else {
        result.append(limit(words[index]))
        index += 1
      }
    }
    return result.joined(separator: " ")
  }

  /// The setting that `words` begin with, as in "option 'path' of backend NAME, ..."; `nil` if they begin otherwise.
  private static func option(_ words: ArraySlice<String>) -> String? {
    let words = Array(words.prefix(5))
    guard words.count == 5, words[0] == "option", words[2] == "of", words[3] == "backend", words[1].utf8.count > 2,
      words[1].hasPrefix("'"), words[1].hasSuffix("'")
    else { return nil }
    let engine = words[4].utf8.prefix { $0.isASCIILetterOrDigit }
    let rest = words[4].utf8.dropFirst(engine.count)
    return "'backends.\(Substring(engine)).\(words[1].dropFirst().dropLast())'\(Substring(rest))"
  }

  private static func limit(_ word: String) -> String {
    let begins = word.utf8.drop { $0 == UInt8(ascii: "(") }
    let name = begins.prefix { $0.isASCIILetterOrDigit }
    let rest = begins.dropFirst(name.count)
    guard limits.contains(where: { $0.utf8.elementsEqual(name) }), rest.allSatisfy({ "),;:".utf8.contains($0) }) else {
      return word
    }
    return "\(word.utf8.count > begins.count ? "(" : "")cache.\(Substring(name))\(Substring(rest))"
  }
}
