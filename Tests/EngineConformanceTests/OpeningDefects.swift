import Foundation
import EngineAPI
import TestStorage

/// Bugs in an engine's declaration, and in its opening and closing.
enum OpeningDefects {
  static let declarations = [
    declaring("name in capitals", ["declaration"], name: "Registry"),
    declaring("a secret with a default", ["declaration"]) {
      $0 + [EngineOption("password", .text, default: .text("secret"), help: "the password", isSecret: true)]
    },
    declaring("summary with a full stop", ["declaration"], summary: "A table."),
    declaring("no durability", ["declaration"]) { $0.filter { $0.name == "path" } },
  ]

  private static func declaring(
    _ text: String, _ caughtBy: [String], name: String? = nil, summary: String? = nil,
    options: @escaping @Sendable ([EngineOption]) -> [EngineOption] = { $0 }
  ) -> Defect {
    Defect(
      name: text, caughtBy: caughtBy,
      declaration: {
        EngineDeclaration(
          name: name ?? $0.name, version: $0.version, summary: summary ?? $0.summary, capabilities: $0.capabilities,
          options: options($0.options))
      })
  }

  static let opening = [
    Defect(name: "opens what cannot be", caughtBy: ["open-impossible-path"], opensAnything: true),
    Defect(
      name: "begins empty each time",
      caughtBy: [
        "random-calls", "concurrent-calls", "durability-modes", "shared-closing-one", "random-calls-shared",
        "payload-bytes", "metadata-times", "keys-characters",
      ], path: { "\($0)-\(UUID())" }),
    Defect(name: "one store for all", caughtBy: ["shared-separate-stores"], path: { _ in "store" }),
    Defect(
      name: "an entry of its own", caughtBy: ["random-calls"],
      onOpen: { engine, _ throws(CacheError) in try await engine.apply(try .putting("format/version")) }),
    Defect(
      name: "cannot relax", caughtBy: ["durability-modes"],
      onOpen: { _, configuration throws(CacheError) in
        if try configuration.durability() == .relaxed { throw CacheError(.failed, "not supported") }
      }),
  ]

  static let moving = [
    Defect(name: "says nothing of what it moves", caughtBy: ["moving-aside"], moving: { _, _ in [] }),
    Defect(
      name: "moves all to one place", caughtBy: ["moving-aside"],
      moving: { moved, _ in moved.map { String($0.prefix { $0 != "." }) + ".damaged-1" } }),
    Defect(
      name: "deletes what it moves", caughtBy: ["moving-aside"],
      moving: { moved, registry in
        for path in moved { registry.remove(path) }
        return moved
      }),
  ]

  static let closing = [
    Defect(name: "closes once", caughtBy: ["closed-calls-fail"], closesOnce: true),
    Defect(
      name: "goes on after close", caughtBy: ["closed-calls-fail", "close-during-calls", "shared-closing-one"],
      forgetsClosing: true),
  ]
}
