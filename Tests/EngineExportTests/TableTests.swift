import CCachectlPlugin
import EngineExport
import EngineAPI
import Testing

@Suite("The table of a plugin") struct TableTests {
  @Test(arguments: [0, 2, UInt32.max]) func anotherVersionHasNoTable(_ abi: UInt32) {
    #expect(PluginExport.table(of: ScriptedPlugin(), abi) == nil)
  }

  @Test func thereIsOneForAllCalls() throws {
    let first = try #require(PluginExport.table(of: ScriptedPlugin(), 1))
    #expect(PluginExport.table(of: ScriptedPlugin(), 1) == first)
  }

  @Test func itReportsTheDeclarationOfThePlugin() throws {
    let table = try table()
    #expect(table.abi == 1 && table.reads_wait == 1 && table.changes_wait == 1)
    #expect(
      [table.name, table.version, table.summary].map { String(cString: $0) } == [
        "scripted", "1.2", "a table for tests",
      ])
    #expect(texts(table.capabilities) == ["atomic-batches", "counts-changes", "ordered", "shared"])
  }

  @Test func itDeclaresTheOptions() throws {
    let table = try table()
    let options = UnsafeBufferPointer(start: table.options, count: table.option_count)
    #expect(
      options.map(describe) == [
        "manner, choice of atOnce waiting failing, by default atOnce: how calls go",
        "path, path, required: a path",
        "password, text, secret, by default ünset: a secret",
        "entries, integer -3...7, by default -1: a number",
        "room, size 1...1048576, by default 4096: a size",
        "patience, duration 0...60000, by default 5000: a duration",
        "eager, boolean, by default true: yes or no",
        "store, store name, by default main: a store",
      ])
  }

  private func describe(_ option: cachectl_option) -> String {
    let kinds = ["text", "path", "integer", "size", "duration", "boolean", "choice", "store name"]
    var text = "\(String(cString: option.name)), \(kinds[Int(option.kind)])"
    if (2...4).contains(option.kind) { text += " \(option.minimum)...\(option.maximum)" }
    if option.choices != nil { text += " of \(texts(option.choices).joined(separator: " "))" }
    if option.is_required != 0 { text += ", required" }
    if option.is_secret != 0 { text += ", secret" }
    if let value = option.default_value { text += ", by default \(String(cString: value))" }
    return text + ": \(String(cString: option.help))"
  }

  private func texts(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard var next = list else { return [] }
    var texts: [String] = []
    while let text = next.pointee {
      texts.append(String(cString: text))
      next += 1
    }
    return texts
  }

  @Test func aStoreCanBeInspected() throws {
    let (table, gathered, failure) = (try table(), Gathered(), Failure())
    var found = cachectl_inspection()
    let status = gathered.lend { context in
      withConfiguration([:], [:]) { table.inspect(&$0, takeText, context, &found, failure.pointer) }
    }
    #expect(status == 0 && gathered.texts == ["/ünder/a", "/a", "", "/ünder/c"])
    #expect(found.exists == 1 && found.format == -1 && found.current_format == 3)
  }

  @Test func theRemovalOfAStoreIsPassedOn() throws {
    let (table, gathered, failure) = (try table(), Gathered(), Failure())
    let status = gathered.lend { context in
      withConfiguration(["path": "/ünder"], [:]) { table.remove(&$0, nil, takeText, context, failure.pointer) }
    }
    #expect(status != 0 && failure.message == "/ünder is open" && gathered.texts.isEmpty)
  }

  @Test func aStoreCanBeMovedAside() throws {
    let (table, gathered, failure) = (try table(), Gathered(), Failure())
    let status = gathered.lend { context in
      withConfiguration(["path": "/ünder"], [:]) { table.remove(&$0, ".äside", takeText, context, failure.pointer) }
    }
    #expect(status == 0 && gathered.texts == ["/ünder.äside", "/ünder.äside-log"])
  }
}
