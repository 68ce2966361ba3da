public import CacheBase
public import CacheCore
public import FetchVocabulary

extension CacheError.Code: CustomStringConvertible {
  /// The code's name, such as `notCached`.
  public var description: String { rawValue }
}

extension CacheDecision: CustomStringConvertible {
  /// The action and the reason, such as "serve: the stored response is fresh".
  public var description: String { "\(action.rawValue): \(reason)" }
}

extension CacheWarning: CustomStringConvertible {
  /// The name of the resource; `values` for a value under a key, `url` for a response, and `nil` if the failure concerns the
  /// whole store.
  public var resource: String? { key.map { String($0.prefix { $0 != "/" }) } }

  /// The phase, the key, the error's code, its message and its hint in one line.
  public var description: String { "\(phase.rawValue)\(key.map { " \($0)" } ?? ""): \(error)" }
}

extension StoreReport: CustomStringConvertible {
  /// The entries and payload bytes of each namespace: `values`, `url`, and each resource under its name. Empty if they were
  /// not counted.
  public var namespaces: [String: (entries: Int, payloadBytes: Int)] {
    (count?.namespaces ?? [:]).mapValues { ($0.entries, $0.payloadBytes) }
  }

  /// The numbers in one line, such as "12 entries, 3456 payload bytes, 5 hits, 2 misses, 0 evictions".
  public var description: String {
    let counted = [(entries, "entries"), (payloadBytes, "payload bytes")].map {
      "\($0.0.map(String.init) ?? "?") \($0.1)"
    }
    return (counted + ["\(operations.hits) hits", "\(operations.misses) misses", "\(operations.evictions) evictions"])
      .joined(separator: ", ")
  }
}
