/// Writes the completion script of bash.
struct BashCompletion {
  /// The model.
  let model: CompletionModel

  /// The script, ending with a line break.
  var script: String {
    let name = model.identifier
    return """
      # Completes the command lines of \(model.program) in bash.

      \(BourneTables(model: model, areDescribed: false).functions)

      \(scanner(name))

      \(replies(name))

      \(entry(name))

      complete -F _\(name) \(model.program.quotedForShell)

      """
  }

  /// Joins what bash has split, and reads the words before the cursor. Bash splits words at equals signs and colons;
  /// `--name=value` may stay in three parts, since both forms of name and value are read alike.
  private func scanner(_ name: String) -> String {
    #"""
    _\#(name)_words() {
      local word last index
      words=("${COMP_WORDS[0]}")
      for ((index = 1; index <= COMP_CWORD; index++)); do
        word="${COMP_WORDS[index]}"
        last=$((${#words[@]} - 1))
        if [[ $word == [=:]* && $last -gt 0 && ${words[last]} != -* ]] ||
          [[ ${COMP_WORDS[index - 1]} == [=:]* && ${words[last]} != "${COMP_WORDS[index - 1]}" ]]; then
          words[last]+="$word"
        else
          words+=("$word")
        fi
      done
      # What is before the word that bash replaces.
      current="${words[${#words[@]} - 1]}"
      if [[ $word == [=:]* && $word != "$current" ]]; then head="$current"; else head="${current%"$word"}"; fi
    }

    _\#(name)_scan() {
      local word index
      for ((index = 1; index < ${#words[@]} - 1; index++)); do
        word="${words[index]}"
        if [[ $word == '=' ]]; then
          continue
        elif [[ -n $previous ]]; then
          previous=''
        elif [[ -n $ended ]]; then
          position=$((position + 1))
        elif [[ $word == '--' ]]; then
          ended=1
        elif [[ $word == -?* ]]; then
          if _\#(name)_value "$node" "$word"; then previous="$word"; fi
        else
          _\#(name)_node "$node"
          if [[ " ${children[*]} " == *" $word "* ]]; then node="$node $word"; else position=$((position + 1)); fi
        fi
      done
    }
    """#
  }

  /// Offers completions for `kind` and `choices`.
  private func replies(_ name: String) -> String {
    #"""
    _\#(name)_offer() {
      local word
      while IFS= read -r word; do COMPREPLY+=("$prefix$word"); done < <(compgen "$@" -- "$current")
    }

    _\#(name)_ask() {
      "${words[0]/#\~/$HOME}" \#(CompletionQuery.command) "${choices[0]}" "$current" "${words[@]:1:${#words[@]} - 2}" \
        2>/dev/null </dev/null
    }

    _\#(name)_reply() {
      local word
      case "$kind" in
        words)
          for word in "${choices[@]}"; do
            if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix$word"); fi
          done
          ;;
        file)
          compopt -o filenames 2>/dev/null
          if [[ ${#choices[@]} -eq 0 ]]; then _\#(name)_offer -f; return; fi
          _\#(name)_offer -d
          for word in "${choices[@]}"; do _\#(name)_offer -f -X "!*.$word"; done
          ;;
        directory)
          compopt -o filenames 2>/dev/null
          _\#(name)_offer -d
          ;;
        asked)
          while IFS= read -r word; do
            if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix${word#"$head"}"); fi
          done < <(_\#(name)_ask)
          ;;
      esac
    }
    """#
  }

  /// The function that bash calls.
  private func entry(_ name: String) -> String {
    #"""
    _\#(name)() {
      local node=\#(model.program.quotedForShell) current='' head=''
      local previous='' ended='' position=0 prefix='' kind=''
      local words=() children=() switches=() choices=()
      COMPREPLY=()
      _\#(name)_words
      _\#(name)_scan
      _\#(name)_node "$node"
      if [[ -n $previous ]]; then
        if [[ $current == '=' ]]; then current=''; fi
        _\#(name)_value "$node" "$previous"
      elif [[ -z $ended && $current == --*=* ]]; then
        _\#(name)_value "$node" "${current%%=*}"
        prefix="${current%%=*}="
        current="${current#*=}"
      elif [[ -z $ended && $current == -* ]]; then
        kind=words choices=("${switches[@]}")
      elif [[ ${#children[@]} -gt 0 ]]; then
        kind=words choices=("${children[@]}")
      else
        _\#(name)_argument "$node" "$position"
      fi
      _\#(name)_reply
    }
    """#
  }
}
