import LibraryStorage
import StorageSPI
import Testing

@Suite("A library is loaded only if its table is one")
struct TableTests {
  @Test(arguments: [
    ("engine->size = 0", "has a table of 0 bytes"), ("engine->size = 128", "has a table of 128 bytes"),
    ("engine->size -= 8", "has a table of 184 bytes"), ("engine->size = 193", "has a table of 193 bytes"),
    ("engine->size = SIZE_MAX", "has a table of 18446744073709551615 bytes"),
    ("engine->size = 1 << 20", "has a table of 1048576 bytes"), ("engine->abi = 2", "is of version 2 of the interface"),
    ("engine->abi = 0", "is of version 0 of the interface"), ("engine = NULL", "does not work with version 1"),
    ("engine->open = NULL", "has no function 'open'"), ("engine->close = NULL", "has no function 'close'"),
    ("engine->read = NULL", "has no function 'read'"), ("engine->apply = NULL", "has no function 'apply'"),
    ("engine->scan = NULL", "has no function 'scan'"),
    ("engine->statistics = NULL", "has no function 'statistics'"),
    ("engine->check_integrity = NULL", "has no function 'check_integrity'"),
    ("engine->compact = NULL", "has no function 'compact'"), ("engine->name = NULL", "has no name"),
    ("engine->name = \"Tiny\"", "has a name that is not"), ("engine->name = \"\"", "has a name that is not"),
    ("engine->name = \"other\"", "has the name of engine 'tiny' and holds 'other'"),
    ("engine->version = NULL", "has no version"), ("engine->version = \"\"", "has a version that is not one line"),
    ("engine->summary = NULL", "has no summary"),
    ("engine->summary = \"Stops.\"", "has a summary that is not one line"),
    ("engine->summary = \"a\\nb\"", "has a summary that is not one line"),
    ("engine->summary = \"\\xff\"", "has a summary that is not UTF-8"),
    ("static char text[9000]; memset(text, 120, 8999); engine->summary = text", "has a summary of more than"),
    ("static const char *const c[] = {\"Not Kebab\", 0}; engine->capabilities = c", "not in kebab case"),
  ])
  func aWrongTableIsRefused(_ statement: String, _ text: String) throws {
    try expectRefusal(statement, text)
  }

  @Test(arguments: [
    ("engine->option_count = SIZE_MAX", "declares 18446744073709551615 options"),
    ("engine->options = NULL", "has no table of its options"), ("engine->option_count = 100000", "declares 100000"),
    ("engine->option_size = 8", "declares options of 8 bytes"), ("engine->option_size = 65", "declares options of 65"),
    ("engine->option_size = SIZE_MAX", "declares options of"), ("option->name = NULL", "has no name of an option"),
    ("option->name = \"Not-camel\"", "not in camel case"), ("option->name = \"mode\"", "declares option 'mode' twice"),
    ("option->kind = 8", "with kind 8"), ("option->is_required = 2", "neither with 0 nor with 1"),
    ("option->is_secret = 1", "as secret and with a default"), ("option->help = NULL", "has no help of option 'note'"),
    ("option->help = \"Stops.\"", "has a help of option 'note' that is not one line"),
    ("option[1].minimum = 6", "declares option 'ratio' from 6 to 5"),
    ("option[2].minimum = -1", "declares option 'room' from -1"),
    ("option[3].default_value = \"5s\"", "no value of its kind"),
    ("option[3].default_value = \"99999999\"", "that it does not take"),
    ("option[4].default_value = \"1\"", "no value of its kind"),
    ("option[5].default_value = \"slow\"", "that it does not take"),
    ("option[5].choices = NULL", "without choices"),
    ("static const char *const c[] = {\"quick\", \"quick\", 0}; option[5].choices = c", "without choices, or with one"),
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
    let functions = ["release_memory", "inspect", "remove", "apply_evicting", "add_uses", "read_all", "change_mark"]
    let statement = functions.map { "engine->\($0) = NULL" }.joined(separator: ", ")
    let library = try Library("tables.c", ["TABLE_DEFECT=\(statement)", "TINY_FLAGS=CACHECTL_READS_WAIT"])
    let plugin = try library.plugin()
    let store = try await library.open()
    try await store.apply(try .put("cities/a"))
    await store.releaseMemory()
    #expect(try await store.scan(KeyRange(), limit: 2).count == 1)
    #expect(store.evictor == nil && store.batchReader == nil && store.changeFollower == nil)
    let configuration = try EngineConfiguration(
      for: plugin.declaration, clock: FixedClock(now: Timestamp(milliseconds: 0)))
    #expect(await cacheError { _ = try await plugin.inspect(configuration) }?.code == .unsupported)
    let error = await cacheError { _ = try await plugin.removeStore(configuration, movingAside: nil) }
    #expect(error?.code == .unsupported)
  }

  /// As a library of a later version has it: appended fields, in the table and in each option.
  @Test func aLargerTableIsReadAsFarAsItIsKnown() async throws {
    let statement = """
      static struct { cachectl_engine engine; void *more[4]; } large; large.engine = tiny_engine; \
      large.engine.size = sizeof large; static struct { cachectl_option option; void *more; } options[2]; \
      options[0].option = tiny_options[0]; options[1].option = tiny_options[7]; \
      large.engine.options = &options[0].option; large.engine.option_size = sizeof options[0]; \
      large.engine.option_count = 2; engine = &large.engine
      """
    let library = try Library("tables.c", ["TABLE_DEFECT=\(statement)"])
    #expect(try library.plugin().declaration.options.map(\.name) == ["note", "defect"])
    try await library.open().close()
  }
}
