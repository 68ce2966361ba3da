internal import EngineAPI

/// The entries that a request might store: one of a typed resource, or any variant of a URL.
struct RequestScope {
  /// The whole key of the entry, or the beginning that the keys of all variants share.
  let text: String
  let isWhole: Bool

  /// Reads the scope from the key of a request.
  init(_ request: String) {
    let key = request.utf8.prefix { $0 != UInt8(ascii: " ") }
    let group = request.hasPrefix("url/") ? key.prefix { $0 != UInt8(ascii: ",") } : key
    isWhole = group.count == key.count
    text = "\(Substring(group))\(isWhole ? "" : URLResponses.variantStart)"
  }

  /// Whether the request might store an entry under `key`.
  func contains(_ key: String) -> Bool { isWhole ? key == text : key.hasPrefix(text) }

  /// Whether the request might store an entry whose key begins with `prefix`.
  func meets(prefix: String) -> Bool { text.hasPrefix(prefix) || !isWhole && prefix.hasPrefix(text) }

  /// Whether the request might store an entry that `selection` selects by its key. Before the response has arrived, the
  /// variant of a URL counts as the usual one.
  func meets(_ selection: EntrySelection) -> Bool {
    guard let prefix = selection.keyPrefix, meets(prefix: prefix) else { return false }
    guard let pattern = selection.pattern else { return true }
    if isWhole { return pattern.matches(text) }
    return !text.hasSuffix(URLResponses.variantStart) || pattern.matches(text + URLResponses.usualVariant)
  }
}

extension EntrySelection {
  /// Whether an entry that is stored now would be selected, so that a response under way is.
  var selectsNewEntries: Bool { state ?? .fresh == .fresh && minimumAge == nil }

  /// Whether only the selected entries tell which requests to end: the selection depends on their state or age, or its
  /// pattern might match a variant of a URL that is not the usual one.
  var selectsRequestsByEntry: Bool { !selectsNewEntries || pattern != nil }
}
