import CachectlTool
import FetchVocabulary
import ServiceTokens
import ServiceTokensDomain
import Testing

/// Several handles on one store, as several processes have them.
struct ConcurrencyTests {
  @Test(arguments: Backends.persistent)
  func nothingIsLostIfTwoHandlesInsertAtOnce(backend: String) async throws {
    let home = try TestHome()
    let handles = [try await home.openStore(backend), try await home.openStore(backend)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, store) in handles.enumerated() {
        let insert = ServiceTokensDIContainer(store: store).makeInsertServiceTokenUseCase()
        group.addTask {
          for number in 0..<20 { try await insert.execute(try .sample("\(index)-\(number)")) }
        }
      }
      try await group.waitForAll()
    }
    for store in handles {
      #expect(try await ServiceTokensDIContainer(store: store).makeListServiceTokensUseCase().execute().count == 40)
      try await store.close()
    }
  }

  @Test(arguments: Backends.persistent)
  func ofManyWithOneNameExactlyOneIsInserted(backend: String) async throws {
    let home = try TestHome()
    let handles = [try await home.openStore(backend), try await home.openStore(backend)]
    let winners = await withTaskGroup(of: String?.self, returning: [String].self) { group in
      for number in 0..<10 {
        let insert = ServiceTokensDIContainer(store: handles[number % 2]).makeInsertServiceTokenUseCase()
        group.addTask {
          do {
            let token = try ServiceToken(name: "a", value: try TokenValue("value-\(number)"))
            try await insert.execute(token)
            return "value-\(number)"
          } catch let error as CacheError where error.code == .tokenExists {
            return nil
          } catch {
            return "\(error)"
          }
        }
      }
      return await group.reduce(into: []) { winners, value in if let value { winners.append(value) } }
    }
    let list = ServiceTokensDIContainer(store: handles[0]).makeListServiceTokensUseCase()
    #expect(winners == (try await list.execute()).map { $0.value.reveal() })
    #expect(winners.count == 1)
    for store in handles { try await store.close() }
  }
}
