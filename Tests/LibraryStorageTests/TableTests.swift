import CCachectlPlugin
import LibraryStorage
import EngineAPI
import Testing

@Suite("A library is loaded only if its table is one")
struct TableTests {
  @Test(arguments: [
    ("engine->size = 0", "has a table of 0 bytes"), ("engine->size = 128", "has a table of 128 bytes"),
    ("engine->size -= 8", "has a table of 152 bytes"), ("engine->size += 8", "has a table of 168 bytes"),
    ("engine->size = SIZE_MAX", "has a table of 18446744073709551615 bytes"),
    ("engine->size = 1 << 20", "has a table of 1048576 bytes"), ("engine->abi = 2", "is of version 2 of the interface"),
    ("engine->abi = 0", "is of version 0 of the interface"), ("engine = NULL", "does not work with version 1"),
    ("engine->open = NULL", "has no function 'open'"), ("engine->close = NULL", "has no function 'close'"),
    ("engine->read = NULL", "has no function 'read'"), ("engine->apply = NULL", "has no function 'apply'"),
    ("engine->scan = NULL", "has no function 'scan'"),
    ("engine->count = NULL", "has no function 'count'"), ("engine->check = NULL", "has no function 'check'"),
    ("engine->compact = NULL", "has no function 'compact'"), ("engine->name = NULL", "has no name"),
    ("engine->name = \"Tiny\"", "has the name of engine 'tiny' and holds 'Tiny'"),
    ("engine->name = \"\"", "gave a name that is not one line"),
    ("engine->name = \"other\"", "has the name of engine 'tiny' and holds 'other'"),
    ("engine->version = NULL", "has no version"), ("engine->version = \"\"", "gave a version that is not one line"),
    ("engine->summary = NULL", "has no summary"),
    ("engine->summary = \"a\\nb\"", "gave a summary that is not one line"),
    ("engine->summary = \"\\xff\"", "has a summary that is not UTF-8"),
    ("static const char *const c[] = {\"two\\nlines\", 0}; engine->capabilities = c", "gave a capability that is not"),
  ])
  func aWrongTableIsRefused(_ statement: String, _ text: String) throws {
    try expectRefusal(statement, text)
  }

  @Test(arguments: [
    ("engine->option_count = SIZE_MAX", "declares 18446744073709551615 options"),
    ("engine->options = NULL", "declares 8 options and has no table"),
    ("engine->option_count = 100000", "declares 100000"), ("option->name = NULL", "has no name of an option"),
    ("option->name = \"two\\nlines\"", "gave a name of an option that is not one line"),
    ("option->kind = 8", "with kind 8"), ("option->kind = UINT32_MAX", "with kind 4294967295"),
    ("option->help = NULL", "has no help of option 'note'"),
    ("option->help = \"a\\nb\"", "gave a help of option 'note' that is not one line"),
    ("option[1].minimum = 6", "declares option 'ratio' with kind 2, from 6 to 5"),
    ("option[2].minimum = -1", "declares option 'room' with kind 3, from -1"),
    ("option[3].default_value = \"5s\"", "that it does not take"),
    ("option[3].default_value = \"99999999\"", "that it does not take"),
    ("option[4].default_value = \"1\"", "that it does not take"),
    ("option[5].default_value = \"slow\"", "that it does not take"),
    ("option[5].choices = NULL", "and 0 choices"),
    (
      "static const char *const c[] = {\"quick\", \"quick\", 0}; option[5].choices = c",
      "and 2 choices, which does not fit together"
    ),
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

  @Test func whatIsOptionalCanBeMissing() async throws {
    let statement = """
      static const char *const c[] = {"atomic-batches", 0}; engine->capabilities = c; \
      engine->inspect = NULL, engine->remove = NULL, engine->change_count = NULL, engine->change_mark = NULL
      """
    let library = try Library("tables.c", ["TABLE_DEFECT=\(statement)"])
    let plugin = try library.plugin()
    let store = try await library.open()
    try await store.apply(try .put("cities/a"))
    #expect(try await store.scan(ScanRequest()).entries.count == 1)
    #expect(try store.changeCount() == nil && store.changeMark(of: try CacheKey("cities/a")) == nil)
    let configuration = try EngineConfiguration(
      for: plugin.declaration, clock: FixedClock(now: Timestamp(milliseconds: 0)))
    #expect(await cacheError { _ = try await plugin.inspect(configuration) }?.code == .unsupported)
    let error = await cacheError { _ = try await plugin.removeStore(configuration, movingAside: nil) }
    #expect(error?.code == .unsupported)
  }

  /// Whoever changes a structure raises CACHECTL_PLUGIN_ABI: no size travels with it.
  @Test func theLayoutBelongsToTheVersion() {
    #expect(CACHECTL_PLUGIN_ABI == 1 && MemoryLayout<Int>.size == 8)
    #expect(MemoryLayout<cachectl_failure>.size == 1_024)
    #expect(MemoryLayout<cachectl_entry>.size == 104 && MemoryLayout<cachectl_operation>.size == 120)
    #expect(MemoryLayout<cachectl_batch>.size == 56 && MemoryLayout<cachectl_scan_request>.size == 48)
    #expect(MemoryLayout<cachectl_count>.size == 40 && MemoryLayout<cachectl_issue>.size == 32)
    #expect(MemoryLayout<cachectl_option>.size == 64 && MemoryLayout<cachectl_value>.size == 16)
    #expect(MemoryLayout<cachectl_configuration>.size == 32 && MemoryLayout<cachectl_inspection>.size == 40)
    #expect(MemoryLayout<cachectl_engine>.size == 160)
  }
}
