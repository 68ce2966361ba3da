import EngineAPI
import Foundation

/// Bugs in how an engine keeps payloads, metadata and keys.
enum ValueDefects {
  static let payloads = [
    Defect(
      name: "loses the last byte",
      caughtBy: ["random-calls", "payload-bytes", "payload-sizes", "concurrent-calls", "concurrent-batches-whole"],
      payload: { Array($0.dropLast()) }),
    Defect(
      name: "repairs UTF-8", caughtBy: ["payload-bytes"],
      payload: { Array(String(decoding: $0, as: UTF8.self).utf8) }),
    Defect(
      name: "drops a byte order mark", caughtBy: ["payload-text"],
      payload: { $0.starts(with: [0xEF, 0xBB, 0xBF]) ? Array($0.dropFirst(3)) : $0 }),
    Defect(
      name: "writes JSON its own way", caughtBy: ["payload-text"],
      payload: { bytes in
        let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        let data = value.flatMap { try? JSONSerialization.data(withJSONObject: $0, options: .fragmentsAllowed) }
        return data.map { Array($0) } ?? bytes
      }),
    Defect(
      name: "keeps 4,096 bytes", caughtBy: ["payload-sizes", "random-calls"],
      payload: { Array($0.prefix(4_096)) }),
    Defect(
      name: "keeps less than a mebibyte", caughtBy: ["payload-sizes"],
      payload: { Array($0.prefix((1 << 20) - 1)) }),
    Defect(
      name: "keeps less than 64 mebibytes", caughtBy: ["payload-64-mebibytes-text", "payload-64-mebibytes-binary"],
      payload: { Array($0.prefix((64 << 20) - 1)) }),
    Defect(name: "finds nothing at once", caughtBy: ["random-calls"], readNow: { _ in nil }),
    Defect(
      name: "finds another version at once", caughtBy: ["random-calls"],
      readNow: { entry in
        entry.map {
          var metadata = $0.metadata
          metadata.checksum ^= 1
          return EntryTable.Entry(payload: $0.payload, metadata: metadata)
        }
      }),
    Defect(name: "calls the closure twice", caughtBy: ["read-calls-body-once"], bodyCalls: 2),
    Defect(
      name: "reads a failure as absence",
      caughtBy: ["read-passes-error-through", "closed-calls-fail"],
      hidesReadErrors: true),
    Defect(
      name: "writes when it reads", caughtBy: ["random-calls"],
      onRead: { engine, key throws(CacheError) in try await engine.apply(try .putting("usage/\(key.text.utf8.count)"))
      }),
  ]

  private static func changing(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (inout EntryMetadata) -> Void
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      metadata: {
        var metadata = $0
        change(&metadata)
        return metadata
      })
  }

  static let metadata = [
    changing("keeps whole seconds", ["metadata-times", "random-calls"]) {
      $0.storedAt = Timestamp(milliseconds: $0.storedAt.milliseconds / 1_000 * 1_000)
    },
    changing("retains too briefly by its own account", ["metadata-times"]) {
      $0.retainUntil = $0.retainUntil.advanced(by: .milliseconds(-1))
    },
    changing("ends texts at NUL", ["metadata-content-types"]) {
      $0.contentType = String($0.contentType.split(separator: "\0", omittingEmptySubsequences: false)[0])
    },
    changing("composes letters", ["metadata-content-types"]) {
      $0.contentType = $0.contentType.precomposedStringWithCanonicalMapping
    },
    changing("checksum as a floating-point number", ["metadata-checksums", "random-calls"]) {
      $0.checksum = UInt64(exactly: Double($0.checksum).rounded()) ?? .max
    },
    changing("checksum of the payload with 63 bits", ["metadata-checksums"]) { $0.payloadChecksum &= ~(1 << 63) },
    changing("drops empty attributes", ["metadata-attributes"]) {
      $0.attributes = $0.attributes.filter { !$0.value.isEmpty }
    },
    changing("255 attributes", ["metadata-attributes"]) {
      $0.attributes = Dictionary(
        uniqueKeysWithValues: $0.attributes.sorted { $0.key < $1.key }.prefix(255).map { ($0.key, $0.value) })
    },
    changing("attributes without case", ["metadata-attributes"]) {
      $0.attributes = Dictionary($0.attributes.map { ($0.key.lowercased(), $0.value) }) { $1 }
    },
    changing("forgets an attribute", ["random-calls"]) { $0.attributes["b"] = nil },
  ]

  private static func renaming(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (String) -> String
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, key: { key throws(CacheError) in try CacheKey(change(key.text)) })
  }

  static let keys = [
    renaming("keys of 8 bytes", ["random-calls"]) {
      String($0.prefix(8))
    },
    renaming(
      "keys of 511 bytes",
      ["keys-lengths", "keys-long-and-alike", "random-calls"]
    ) { String($0.prefix(511)) },
    renaming("cuts off what follows 447 bytes, if that is little", ["keys-lengths"]) {
      (447...451).contains($0.utf8.count) ? String($0.prefix(447)) : $0
    },
    renaming("keys by their ends", ["keys-long-and-alike"]) {
      $0.utf8.count > 600 ? "\($0.prefix(300))\($0.suffix(300))" : $0
    },
    renaming("keys without case", ["keys-characters"]) { $0.lowercased() },
    renaming("percent is a wildcard", ["keys-characters"]) { $0.replacing("%", with: "_") },
    renaming("paths are resolved", ["keys-path-like"]) {
      $0.replacing("/./", with: "/").replacing("//", with: "/") + "~"
    },
    renaming("namespaces of 8 bytes", ["keys-namespaces"]) { key in
      let parts = key.split(separator: "/", maxSplits: 1)
      return "\(parts[0].prefix(8))/\(parts[1])"
    },
  ]
}
