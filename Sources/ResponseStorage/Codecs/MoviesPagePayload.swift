internal import CacheData
internal import CacheDomain
internal import StorageSPI

extension MoviesPageDTO: JSONPayload {
  init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (frame, movies) = (PageFrame(), [Movie]?.none)
    try json.object { json, name throws(JSONReader.Failure) in
      if name == "items" {
        movies = try json.array { json throws(JSONReader.Failure) in try Movie(json: &json) }
      } else {
        try frame.read(name, &json)
      }
    }
    self.init(
      MoviesPage(
        page: try json.required(frame.page, "page"), totalPages: try json.required(frame.totalPages, "totalPages"),
        totalItems: try json.required(frame.totalItems, "totalItems"), movies: try json.required(movies, "items")))
  }
}

extension Movie {
  fileprivate init(json: inout JSONReader) throws(JSONReader.Failure) {
    var texts: [String: String] = [:]
    var genres: [String]?
    try json.object { json, member throws(JSONReader.Failure) in
      switch member {
      case "id", "title", "overview", "releaseDate", "posterPath":
        texts[member] = try json.optional { json throws(JSONReader.Failure) in try json.string() }
      case "genres": genres = try json.array { json throws(JSONReader.Failure) in try json.string() }
      default: try json.skipValue()
      }
    }
    self.init(
      id: try json.required(texts["id"], "id"), title: try json.required(texts["title"], "title"),
      overview: texts["overview"], releaseDate: texts["releaseDate"], posterPath: texts["posterPath"],
      genres: try json.required(genres, "genres"))
  }
}
