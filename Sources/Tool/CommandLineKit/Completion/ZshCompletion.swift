/// Writes the completion script of zsh.
struct ZshCompletion {
  /// The model.
  let model: CompletionModel

  /// The script, ending with a line break. Source it, or put it into a folder of `fpath` as `_` and the program's name.
  var script: String {
    let name = model.identifier
    return """
      #compdef \(model.program)
      # Completes the command lines of \(model.program) in zsh.

      \(BourneTables(model: model, areDescribed: true).functions)

      \(scanner(name))

      \(replies(name))

      \(entry(name))

      if [[ $funcstack[1] == _\(name) ]]; then _\(name) "$@"; else compdef _\(name) \(model.program.quotedForShell); fi

      """
  }

  /// Reads the words before the cursor.
  private func scanner(_ name: String) -> String {
    #"""
    _\#(name)_scan() {
      local word index
      for ((index = 2; index < CURRENT; index++)); do
        word=${(Q)words[index]}
        if [[ -n $previous ]]; then
          previous=''
        elif [[ -n $ended ]]; then
          position=$((position + 1))
        elif [[ $word == '--' ]]; then
          ended=1
        elif [[ $word == -?* ]]; then
          if _\#(name)_value "$node" "$word"; then previous=$word; fi
        else
          _\#(name)_node "$node"
          if [[ -n ${(M)children:#$word(|:*)} ]]; then node="$node $word"; else position=$((position + 1)); fi
        fi
      done
    }
    """#
  }

  /// Offers completions for `kind` and `choices`.
  private func replies(_ name: String) -> String {
    #"""
    _\#(name)_reply() {
      case $kind in
        words) compadd -- "${choices[@]}" ;;
        file)
          if (( ! $#choices )); then _files; return; fi
          choices=("*."${^choices})
          _files -g "$choices"
          ;;
        directory) _files -/ ;;
        asked)
          program=${(Q)words[1]}
          words=("${(@Q)words[2,CURRENT-1]}")
          choices=(${(f)"$(
            ${program/#\~/$HOME} \#(CompletionQuery.command) $choices[1] "${(Q)PREFIX}" "${words[@]}" 2>/dev/null </dev/null
          )"})
          compadd -- "${choices[@]}"
          ;;
      esac
    }
    """#
  }

  /// The function that zsh calls. The completion system has set the shell options, including extended globbing.
  private func entry(_ name: String) -> String {
    #"""
    _\#(name)() {
      local node=\#(model.program.quotedForShell) previous='' ended='' position=0 kind='' program
      local -a children switches choices
      _\#(name)_scan
      _\#(name)_node "$node"
      if [[ -n $previous ]]; then
        _\#(name)_value "$node" "$previous"
      elif [[ -z $ended && $PREFIX == --*=* ]]; then
        _\#(name)_value "$node" "${PREFIX%%=*}"
        compset -P 1 '*='
      elif [[ -z $ended && $PREFIX == -* ]]; then
        _describe -o option switches
        return
      elif (( $#children )); then
        _describe command children
        return
      else
        _\#(name)_argument "$node" "$position"
      fi
      _\#(name)_reply
    }
    """#
  }
}
