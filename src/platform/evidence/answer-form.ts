/**
 * Details that a question asks for, and how texts state them: finer than `AnswerType`, and for handbooks, which name roles rather than people and
 * pages rather than places. English and German.
 */
export type AnswerForm =
  | 'time'
  | 'money'
  | 'frequency'
  | 'limit'
  | 'role'
  | 'spot'
  | 'permission'
  | 'step'
  | 'consequence'

const word = (words: string) => String.raw`(?<![\p{L}\p{N}])(?:${words})(?![\p{L}\p{N}\p{M}])`
const number = String.raw`(?:\p{N}[\p{N}.,]{0,12}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|few|several|ein(?:e[rnm]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|zehn)`
const timeUnit =
  '(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|nights?|sekunden?|minuten?|stunden?|tag(?:e|en)?|wochen?|monat(?:e|en)?|jahr(?:e|en)?)'

const forms: readonly { form: AnswerForm; asked: RegExp; given: RegExp }[] = [
  {
    form: 'frequency',
    asked: new RegExp(word('how (?:often|many times|frequently)|wie (?:oft|häufig)'), 'u'),
    given: new RegExp(
      `${word('every|each|per|once|twice|daily|weekly|monthly|yearly|annual(?:ly)?|hourly|regularly|jede[rsnm]?|pro|täglich|wöchentlich|monatlich|jährlich')}|${word(String.raw`\p{N}{1,4} times`)}`,
      'iu',
    ),
  },
  {
    form: 'time',
    asked: new RegExp(
      word(
        'how (?:long|soon|late|early|quickly|fast|old)|when|until when|by when|what time|(?:which|what) days?|wann|wie (?:lange|bald|früh|spät|schnell|alt)|(?:welchem|welchen|welcher) tag',
      ),
      'u',
    ),
    given: new RegExp(
      `${word(`${number}(?: |-|‐)?(?:full |consecutive |working |business |calendar )?${timeUnit}`)}|${word(String.raw`\p{N}{1,2}(?::\p{N}\p{N})? ?(?:[ap]\.?m|uhr|o['’]clock)|until|within|before|after|(?:in|on|since) (?:\p{N}{1,4}|\p{Lu}\p{L}{2,9} \p{N})|by (?:mid|the|\p{N}|\p{Lu})|immediately|at once|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|innerhalb|bis|vor|nach|sofort|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?`)}`,
      'iu',
    ),
  },
  {
    form: 'money',
    asked: new RegExp(
      word(
        'how (?:much|expensive|cheap)|costs?|prices?|pay|paid|fees?|charge[ds]?|expensive|wie ?(?:viel|teuer)|kostet|kosten|preis|gebühr|bezahl\\p{L}*',
      ),
      'u',
    ),
    given: new RegExp(
      String.raw`[$€£¥]|${word(String.raw`\p{N}{1,9}(?:[.,]\p{N}{1,4})? ?(?:%|percent|dollars?|euros?|pounds?|cents?|usd|eur|gbp|prozent)|free(?: of charge)?|no (?:extra |additional )?(?:cost|charge|fee)s?|kostenlos|gratis`)}|\p{N} ?%`,
      'iu',
    ),
  },
  {
    form: 'limit',
    asked: new RegExp(
      word(
        'at (?:most|least)|maximum|minimum|limits?|how (?:many|big|large|small|young|old|far|much)|(?:biggest|largest|longest|smallest|most expensive)|wie (?:viele?|groß|alt|weit)|höchstens|mindestens',
      ),
      'u',
    ),
    given: new RegExp(
      `${word('up to|at (?:most|least)|no more than|maximum|minimum|limit(?:ed|s)?|fewer than|less than|more than|only|over|under|total|bis zu|höchstens|mindestens|maximal')}`,
      'iu',
    ),
  },
  {
    form: 'role',
    asked: new RegExp(word('who|whom|whose|(?:which|what) role|wer|wen|wem|write to|call|contact|turn to'), 'u'),
    given: new RegExp(
      `${word('managers?|owners?|admin(?:s|istrators?)?|operators?|directors?|teams?|members?|staff|department|office|clerks?|officers?|supervisors?|leads?|heads?|colleagues?|employees?|contact|call|ask|speak|team|leiter(?:in)?|abteilung|vorgesetzte[rn]?|mitarbeiter\\p{L}*')}|@`,
      'iu',
    ),
  },
  {
    form: 'spot',
    asked: new RegExp(word('where|wo|wohin|woher'), 'u'),
    given: new RegExp(
      `${word('settings?|menu|page|section|tab|at|in the|under|via|website|online|located|address|room|building|street|road|avenue|available (?:at|in|from)|folder|einstellungen|seite|unter|menü|im')}|https?:`,
      'iu',
    ),
  },
  {
    form: 'permission',
    asked: new RegExp(
      String.raw`^(?:can|could|may|must|do i|do we|does|is it|are|am i|should|will|would|kann|darf|muss|ist es)(?![\p{L}])|${word('may i|can i|can we|allowed|do i (?:have|need) to')}`,
      'u',
    ),
    given: new RegExp(
      word(
        "yes|no|not|never|cannot|can['’]t|can|may|must|allowed|permitted|possible|possibly|welcome|eligible|required|need(?:s|ed)?|optional|available|only|unable|able|exempt|prohibited|accepted|supported?|\\p{L}+n['’]t|ja|nein|nicht|kein\\p{L}*|kann|können|darf|dürfen|muss|müssen",
      ),
      'iu',
    ),
  },
  {
    form: 'step',
    asked: new RegExp(
      word(
        'how (?:do|can|could|should|would|to)|what (?:do|must|should) i do|what now|wie (?:kann|können|muss|soll|mache|bekomme)',
      ),
      'u',
    ),
    given:
      /^(?:[-*•–] |\d{1,3}[.)] )?(?:please |simply |first,? |then |next,? |to [\p{L} ]{3,60}, )?(?:click|go|open|select|choose|enter|navigate|visit|press|tap|type|copy|paste|install|run|log|sign|contact|ask|send|use|set|turn|switch|toggle|follow|call|fill|add|create|remove|delete|submit|upload|book|order|check|make|start|stop|put|register|complete|you (?:can|need|have|must|will|should))(?![\p{L}])/iu,
  },
  {
    form: 'consequence',
    asked: new RegExp(word('what (?:happens|if)|what now|lose|lost|was passiert'), 'u'),
    given: new RegExp(
      word(
        'if|when|once|then|will|would|automatically|stays?|remains?|keeps?|kept|los[et]|lost|ends?|becomes?|continues?|wenn|wird|werden|bleibt|verlier\\p{L}*',
      ),
      'iu',
    ),
  },
]

/** Longest texts that are read, UTF-16 units. */
const maximumQuestionUnits = 2_000
const maximumSentenceUnits = 1_000

/** The details that a question asks for. */
export function askedForms(question: string): AnswerForm[] {
  const read = question.slice(0, maximumQuestionUnits).toLowerCase()
  return forms.filter(({ asked }) => asked.test(read)).map(({ form }) => form)
}

/** Those of `asked` that a text states. */
export function statedForms(text: string, asked: readonly AnswerForm[]): AnswerForm[] {
  const read = text.slice(0, maximumSentenceUnits)
  return forms.filter(({ form, given }) => asked.includes(form) && given.test(read)).map(({ form }) => form)
}
