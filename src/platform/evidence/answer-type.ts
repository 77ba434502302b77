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
