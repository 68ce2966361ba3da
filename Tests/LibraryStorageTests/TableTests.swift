import CCachectlPlugin
import LibraryStorage
import EngineAPI
import Testing

@Suite("A library is loaded only if its table is one")
struct TableTests {
  @Test(arguments: [
    ("engine->abi = 2", "is of version 2 of the interface"),
    ("engine->abi = 0", "is of version 0 of the interface"), ("engine = NULL", "does not work with version 1"),
    ("engine->open = NULL", "has no function 'open'"), ("engine->close = NULL", "has no function 'close'"),
    ("engine->read = NULL", "has no function 'read'"), ("engine->apply = NULL", "has no function 'apply'"),
    ("engine->scan = NULL", "has no function 'scan'"),
    ("engine->count = NULL", "has no function 'count'"), ("engine->check = NULL", "has no function 'check'"),
    ("engine->compact = NULL", "has no function 'compact'"),
    ("engine->name = NULL", "has the name of engine 'tiny' and holds ''"),
    ("engine->name = \"Tiny\"", "has the name of engine 'tiny' and holds 'Tiny'"),
    ("engine->name = \"other\"", "has the name of engine 'tiny' and holds 'other'"),
  ])
  func aWrongTableIsRefused(_ statement: String, _ text: String) throws {
    try expectRefusal(statement, text)
  }

  @Test(arguments: [
    ("engine->option_count = SIZE_MAX", "declares 18446744073709551615 options"),
    ("engine->options = NULL", "declares 8 options and has no table"),
    ("engine->option_count = 100000", "declares 100000"), ("option->kind = 8", "with kind 8"),
    ("option->kind = UINT32_MAX", "with kind 4294967295"),
    ("option[1].minimum = 6", "declares option 'ratio' with kind 2, from 6 to 5"),
    ("option[2].minimum = -1", "declares option 'room' with kind 3, from -1"),
    ("option[3].default_value = \"5s\"", "that it does not take"),
    ("option[3].default_value = \"99999999\"", "that it does not take"),
    ("option[4].default_value = \"1\"", "that it does not take"),
    ("option[5].default_value = \"slow\"", "that it does not take"),
    ("option[5].choices = NULL", "that it does not take"),
    ("option->kind = CACHECTL_STORE_NAME; option->default_value = \"Not one\"", "that it does not take"),
  ])
  func aWrongOptionIsRefused(_ statement: String, _ text: String) throws {
    try expectRefusal(statement, text)
  }

  private func expectRefusal(_ statement: String, _ text: String) throws {
    let library = try Library("tables.c", ["TABLE_DEFECT=\(statement)"])
    let error = #expect(throws: CacheError.self) { _ = try library.plugin() }
    #expect(error?.code == .invalidPlugin)
    #expect(error?.message.hasPrefix("library \(library.path) ") == true)
    #expect(error?.message.contains(text) == true, "\(error.debugDescription)")
    #expect(error?.hint.isEmpty == false)
  }

  @Test func optionalMembersCanBeMissing() async throws {
    let statement = """
      static const char *const c[] = {"atomic-batches", 0}; engine->capabilities = c; \
      engine->inspect = NULL, engine->remove = NULL, engine->change_count = NULL
      """
    let library = try Library("tables.c", ["TABLE_DEFECT=\(statement)"])
    let plugin = try library.plugin()
    let store = try await library.open()
    try await store.apply(try .put("cities/a"))
    #expect(try await store.scan(ScanRequest()).entries.count == 1)
    #expect(try store.changeCount() == nil)
    let configuration = try EngineConfiguration(
      for: plugin.declaration, clock: FixedClock(now: Timestamp(milliseconds: 0)))
    #expect(await cacheError { _ = try await plugin.inspect(configuration) }?.code == .unsupported)
    let error = await cacheError { _ = try await plugin.removeStore(configuration, movingAside: nil) }
    #expect(error?.code == .unsupported)
  }

  @Test func aTextOfADeclarationIsOneLine() throws {
    let statement = "engine->summary = \"a\\nb\\xff\"; engine->version = NULL; option->help = \"c\\td\""
    let declaration = try Library("tables.c", ["TABLE_DEFECT=\(statement)"]).plugin().declaration
    #expect(declaration.summary == #"a\nb\#u{FFFD}"# && declaration.version.isEmpty)
    #expect(declaration.options[0].help == #"c\td"#)
  }

  /// Whoever changes a structure raises CACHECTL_PLUGIN_ABI: no size travels with it.
  @Test func theLayoutBelongsToTheVersion() {
    #expect(CACHECTL_PLUGIN_ABI == 1 && MemoryLayout<Int>.size == 8)
    #expect(MemoryLayout<cachectl_failure>.size == 1_024)
    #expect(MemoryLayout<cachectl_entry>.size == 104 && MemoryLayout<cachectl_operation>.size == 120)
    #expect(MemoryLayout<cachectl_batch>.size == 56 && MemoryLayout<cachectl_scan_request>.size == 48)
    #expect(MemoryLayout<cachectl_count>.size == 40 && MemoryLayout<cachectl_option>.size == 64)
    #expect(MemoryLayout<cachectl_configuration>.size == 24 && MemoryLayout<cachectl_inspection>.size == 24)
    #expect(MemoryLayout<cachectl_engine>.size == 152)
  }
}
