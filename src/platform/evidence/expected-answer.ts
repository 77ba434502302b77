/** What kind of words answer a question. */
export type AnswerType = 'date' | 'number' | 'person' | 'place' | 'reason' | 'steps' | 'choice' | 'other'

/** Words of scripts with spaces, separated by `|`, match as whole words; the others anywhere. */
function anyOf(words: string, spaceless: string): string {
  return String.raw`(?<![\p{L}\p{N}])(?:${words})(?![\p{L}\p{N}\p{M}])|${spaceless}`
}

/** `word` where it asks: before an auxiliary, or reported ("since when"). As a conjunction ("deleted when I cancel") it asks for no date. */
const asking = (word: string) =>
  `(?:since|until|from|know|me) ${word}|${word}(?=['’]s|[?]|$| (?:do|does|did|is|are|was|were|am|will|would|can|could|may|must|shall|should|has|have|had|to|in|on|exactly)(?![\\p{L}]))`
/** "Who" at the beginning of a clause, or after a preposition: "people who pay" asks for no person. */
const askingWho = String.raw`(?<=^|[.,;:!?] |(?:and|or|but|to|for|from|with|by|know|me) )who(?:se|m)?`

/**
 * Question words of each kind, the most specific kind first ("how many years" is a number, "in which year" a date). Languages: English,
 * German, French, Spanish, Italian, Portuguese, Dutch, Russian, Turkish, Vietnamese, Arabic; Chinese, Japanese, Hindi, Thai.
 */
const questionWords: [AnswerType, RegExp][] = (
  [
    [
      'number',
      'how (?:many|much|long|old|tall|high|far|large|big|fast|often|deep|wide|heavy)|(?:what|which) (?:percent|percentage|number|amount|share|population)|' +
        'wie ?(?:viele?|lange?|alt|hoch|groß|weit|oft|schwer|schnell|tief)|combien|cuánt[oa]s?|quant[oiae]s?|hoe ?(?:veel|lang|oud|groot|ver|vaak)|' +
        'сколько|kaç|bao (?:nhiêu|lâu|xa)|mấy|كم',
      '多少|[几幾][个個年次种種人天名位]|多[大高长長远遠久深快重]|何人|いくつ|いくら|どれくらい|कितन|กี่|เท่าไร|เท่าใด|เท่าไหร่',
    ],
    [
      'date',
      `${asking('when')}|` +
        '(?:what|which) (?:year|date|day|month|decade|century)|wann|welche[mnrs]? (?:jahr|datum|tag|monat|jahrzehnt|jahrhundert)|' +
        'quand|quelle (?:année|date)|cuándo|qué (?:año|fecha|día)|quando|(?:che|quale|que) an[n]?o|wanneer|когда|каком году|ne zaman|hangi yıl|' +
        'khi nào|năm nào|ngày nào|thế kỷ nào|bao giờ|متى|أي عام|أي سنة',
      '何时|何時|什么时候|什麼時候|哪一?[年天]|几月|几号|哪个世纪|いつ|何年|कब|किस वर्ष|เมื่อใด|เมื่อไร|เมื่อไหร่|ปีใด|ปีไหน|วันใด|วันไหน',
    ],
    [
      'reason',
      'why|warum|weshalb|wieso|pourquoi|por qu[ée]|perché|waarom|почему|neden|tại sao|vì sao|لماذا',
      '为什么|為什麼|为何|為何|なぜ|क्यों|ทำไม|เพราะเหตุใด',
    ],
    [
      'person',
      `${askingWho}|` +
        'we[rmn]|wessen|quién(?:es)?|chi|quem|кто|кому|kim|(?:là|của|bởi|với|cho) ai|ai (?:là|đã|được|có|sẽ)|người nào|من (?:هو|هي|هم|الذي)|بواسطة من',
      '谁|誰|哪位|だれ|कौन|किसने|ใคร|^من ',
    ],
    [
      'place',
      `${asking('where')}|` +
        '(?:what|which) (?:city|country|state|town|continent|region|county)|wo(?:her|hin)?|welche[mnrs]? (?:stadt|land|ort|region|staat)|' +
        'où|dónde|dove|onde|waar|где|nerede|đâu|(?:thành phố|nước|quốc gia) nào|أين',
      '哪里|哪裡|哪儿|何处|哪个(?:城市|国家|地方)|哪座|どこ|कहाँ|कहां|ที่ไหน|ที่ใด|ประเทศใด|เมืองใด',
    ],
    [
      'steps',
      'how (?:do|can|could|should|would|to)|how(?=\\?)|wie (?:kann|können|muss|soll|sollte|geht)|wie \\p{L}{2,20} (?:ich|man|wir)|comment|cómo|come (?:posso|si|faccio)|como|hoe (?:kan|moet)|как',
      '怎么|怎麼|如何|どうやって|どうすれば',
    ],
    [
      'choice',
      '^(?:can|could|may|must|do|does|did|is|are|was|were|will|would|should|has|have|kann|können|darf|dürfen|muss|müssen|ist|sind|gibt|wird|hat|haben|est-ce|puis-je|puedo|posso)',
      '吗|嗎|ですか|ますか',
    ],
  ] as const
).map(([type, words, spaceless]) => [type, new RegExp(anyOf(words, spaceless), 'u')])

/** Longest part of a question that is read, UTF-16 units. */
const maximumQuestionUnits = 2_000

export function answerTypeOf(question: string): AnswerType {
  const read = question.slice(0, maximumQuestionUnits).normalize('NFC').toLowerCase()
  return questionWords.find(([, words]) => words.test(read))?.[0] ?? 'other'
}

const numberWords = anyOf(
  'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|' +
    'hundert|tausend|millionen|deux|trois|quatre|cinq|dos|tres|cuatro|cinco|due|tre|quattro|hai|ba|bốn|sáu|bảy|tám|chín|mười|trăm|nghìn|triệu',
  '[一二三四五六七八九十百千万亿兩两]+[个個年次种種人天名位点成倍]|ثلاث|أربع|خمس|ست[ةه]|سبع|ثمان|تسع|عشر|مئ[ةه]|ألف|مليون|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|ล้าน',
)
const dateWords = anyOf(
  'january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|jahrhunderts?|' +
    'century|decade|(?:mon|tues|wednes|thurs|fri|satur|sun)day|janvier|février|enero|febrero|gennaio|tháng|thế kỷ|thứ|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|' +
    'أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|القرن',
  String.raw`(?<!\p{N})(?:1\d{3}|2[0-5]\d{2})(?!\p{N})|\d{1,2} ?[世月]|[一二三四五六七八九十]+世纪|มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม|ศตวรรษ`,
)
const capitalised = String.raw`\p{Lu}[\p{L}\p{M}’'-]{1,40}`

/** What each kind of answer looks like, in any language of the question words. */
const candidates: Record<Exclude<AnswerType, 'other'>, RegExp> = {
  number: new RegExp(String.raw`\p{N}{1,40}|${numberWords}`, 'giu'),
  date: new RegExp(dateWords, 'giu'),
  person: new RegExp(String.raw`${capitalised} ${capitalised}|\p{Script=Han}{1,6}[·•]\p{Script=Han}{1,12}`, 'gu'),
  place: new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:in|at|near|from|to|bei|aus|nach|à|en|ở|tại|từ) (?:(?:the|der|den) )?${capitalised}|(?:في|位于|在|于|ที่|ใน) ?[\p{L}\p{M}]{2}`,
    'gu',
  ),
  steps: new RegExp(
    anyOf(
      '(?:click|go to|open|select|choose|enter|navigate|visit|press|tap|type|copy|paste|install|run|log in|sign in|contact|ask|send|use|set|turn|toggle|follow|call|fill|add|create|remove|delete|you can|you need to|you have to|make sure)|' +
        'klicken|wählen|öffnen|geben sie|melden|senden|rufen|wenden|können sie|müssen sie|cliquez|sélectionnez|ouvrez|vous pouvez|haga clic|seleccione|puede|puedes|fare clic|selezionare|klik|kies|нажмите|выберите|откройте',
      '点击|选择|打开|クリック|選択',
    ),
    'giu',
  ),
  choice: new RegExp(
    anyOf(
      "yes|no|not|never|only|can|cannot|can['’]t|may|must|allowed|possible|available|required|optional|included|\\p{L}+n['’]t|ja|nein|nicht|kein\\p{L}*|nur|kann|können|darf|dürfen|muss|müssen|möglich|erlaubt|oui|non|pas|peut|pouvez|sí|no|puede|può|non",
      '是|不|可以|能|できます|ません',
    ),
    'giu',
  ),
  reason: new RegExp(
    anyOf(
      'because|since|due to|so that|in order to|as a result|reasons?|weil|da|denn|wegen|aufgrund|damit|um|grund|parce|car|afin|porque|debido|perché|poiché|vì|do|bởi|để|nhờ|' +
        'لأن|بسبب|من أجل',
      '因为|由于|因此|为了|以便|原因|เพราะ|เนื่องจาก|เพื่อ',
    ),
    'giu',
  ),
}

/** Kinds whose words state no fact: the question may have them too. */
const formTypes: ReadonlySet<AnswerType> = new Set(['reason', 'steps', 'choice'])

/** Longest sentence that is searched, UTF-16 units. */
const maximumSentenceUnits = 1_000

/** Whether the text has words of the kind `type` that the question does not have. Null: the kind has no form. */
export function hasCandidate(text: string, type: AnswerType, question: string): boolean | null {
  if (type === 'other') return null
  for (const [found] of text.slice(0, maximumSentenceUnits).matchAll(candidates[type])) {
    if (formTypes.has(type) || !question.includes(found)) return true
  }
  return false
}

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
