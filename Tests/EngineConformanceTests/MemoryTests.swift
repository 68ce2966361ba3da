import MemoryStorage
import EngineConformance
import EngineAPI
import Testing

@Suite("A store in memory has nothing to inspect")
struct MemoryTests {
  private func configuration() throws -> EngineConfiguration {
    try EngineConfiguration(for: MemoryPlugin().declaration, clock: ManualClock(.distantFuture))
  }

  @Test func anInspectionNamesNoFile() async throws {
    let found = try await MemoryPlugin().inspect(try configuration())
    #expect(found == StoreInspection(path: "memory", files: [], format: nil, currentFormat: 1))
  }
}
