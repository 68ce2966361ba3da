import CacheData
import CacheDomain
import Testing

struct RequestTests {
  private func texts(_ request: some CacheableRequest) -> [String] {
    request.parameters.map { "\($0.name)=\($0.value)" }.sorted()
  }

  @Test(arguments: [
    (CitiesQuery(), ["order=revenue", "origin=o", "page=0", "sort=desc"]),
    (CitiesQuery(order: .name, page: 7), ["order=name", "origin=o", "page=7", "sort=asc"]),
    (
      CitiesQuery(order: .organizations, direction: .ascending, page: -1),
      ["order=organizations", "origin=o", "page=-1", "sort=asc"]
    ),
  ])
  func citiesDependOnOriginOrderDirectionAndPage(query: CitiesQuery, expected: [String]) {
    #expect(texts(CitiesRequestDTO(origin: "o", query: query)) == expected)
  }

  @Test(arguments: [("the wire", 1), ("A=b/c&d", 500)])
  func moviesDependOnOriginTextAndPage(text: String, page: Int) throws {
    let request = MoviesRequestDTO(origin: "o", query: try #require(MovieQuery(text)), page: page)
    #expect(texts(request) == ["origin=o", "page=\(page)", "query=\(text)"])
  }

  @Test func postersDependOnOriginPathAndWidth() {
    let request = PosterRequestDTO(origin: "o", query: PosterQuery(path: "7.png", width: 500))
    #expect(texts(request) == ["origin=o", "path=/7.png", "width=500"])
  }

  @Test func everyResourceIsANamespaceOfItsOwn() {
    let resources = [CitiesRequestDTO.resource, MoviesRequestDTO.resource, PosterRequestDTO.resource]
    #expect(resources == ["cities", "movies", "posters"])
  }

  @Test func originsAreDistinguished() {
    let (left, right) = (
      CitiesRequestDTO(origin: "a", query: CitiesQuery()), CitiesRequestDTO(origin: "b", query: CitiesQuery())
    )
    #expect(left != right)
    #expect(texts(left) != texts(right))
  }
}
