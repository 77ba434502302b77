import { defaultLanguage, isFunctionWord, type Language, rulesForWord, tokenize } from '../language/index.ts'
import { latinOf, lowerCasePattern, type TextLanguage, wordKeys } from './words.ts'
import { isNegation } from './negation-words.ts'

/** A word of a clause that has an opposite. */
export interface Opposite {
  /** As in `oppositeSides`. */
  side: number
  word: string
  /** The next word or number. */
  next: string | undefined
  /** The keys of the words and numbers around it, without function words. */
  around: () => readonly { keys: readonly string[]; distance: number; isAfter: boolean }[]
  /** `just before`: a negation is there, so that "not yet open" is "closed". `before`: what it denies is not clear. */
  negation: 'just before' | 'before' | null
  /** It counts as a negation itself, such as "forbidden". */
  isNegation: boolean
}

/** Languages whose negation follows the verb. */
const verbFirst = new Set(['de', 'nl', 'sv', 'da', 'no', 'fr'])
/** So many words after a negation an opposite may be denied by it. */
const negationReach = 3
/** "No longer". */
const partsOfNegations = new Set(['longer', 'more', 'mehr', 'plus', 'más', 'più', 'mais'])

/** The words of a clause (lower case) that have an opposite. Time is linear in the text. */
export function readOpposites(text: string, language: TextLanguage): Opposite[] {
  const latin = latinOf(language, defaultLanguage)
  const plain = text
    .replaceAll(switched, toSwitch)
    .replaceAll(contracted, ' not')
    .replaceAll(atMost, ' maximum ')
    .replaceAll(atLeast, ' minimum ')
  const tokens = tokenize(plain, { singleCharacters: false })
  const negates = (words: string) => isNegation(words, language)
  // The passages of a tool may be one long clause.
  let firstNegation: number | undefined
  const isAfterNegation = (at: number) => {
    firstNegation ??= isNegation(text, language) ? (verbFirst.has(latin) ? -1 : tokens.findIndex(negates)) : Infinity
    return at > firstNegation
  }
  return tokens.flatMap((word, at) => {
    const sides = oppositeSides(word, latin)
    if (sides.length === 0 || (enabling.test(word) && tokens.slice(at + 2, at + enabledReach).includes('to'))) return []
    // "The least recently used" is no amount.
    if (ofDegree.test(word) && tokens[at + 1]?.endsWith('ly')) return []
    const before = tokens.slice(Math.max(0, at - negationReach), at)
    // Of "not required for small ones" only the first word is denied.
    const other = before.findLastIndex((one) => oppositeSides(one, latin).length > 0 && !partsOfNegations.has(one))
    const isJustBefore = negates(before.slice(other + 1).join(' '))
    const negation = isJustBefore ? 'just before' : isAfterNegation(at) ? 'before' : null
    let read: ReturnType<Opposite['around']> | undefined
    const around = () =>
      (read ??= [
        ...readAround(tokens.slice(Math.max(0, at - aroundReach), at).toReversed(), latin, false),
        ...readAround(tokens.slice(at + 1, at + aroundReach + 1), latin, true),
      ])
    const next = tokens[at + 1]
    const isDenying = negates(word) || (next === 'to' && negates(`${word} to`))
    return sides.map((side) => ({ side, word, next, around, negation, isNegation: isDenying }))
  })
}

/** The words next to an opposite, nearest first, up to a conjunction: "frequent in July and rare in May". */
function readAround(tokens: readonly string[], latin: Language, isAfter: boolean) {
  const end = tokens.findIndex((word) => conjunctions.has(word))
  return tokens
    .slice(0, end === -1 ? tokens.length : end)
    .flatMap((word, at) =>
      isFunctionWord(word, latin) ? [] : [{ keys: wordKeys(word, latin), distance: at + 1, isAfter }],
    )
}

const conjunctions = new Set(
  'and or but while whereas und oder aber während et ou y e o pero mais mas en of och men i ale и но а'.split(' '),
)

/** "Enables each pool to start" is not the opposite of "disabled". */
const enabling = /^enabl(?:e|es|ed|ing)$/
const enabledReach = 6

const ofDegree = /^(?:least|most)$/

/** So many words on each side show what an opposite is about. */
const aroundReach = 6

/** "Turned off" and "switch it on". */
const switched = /(?<!\p{L})(?:turn|switch)(?:e?s|ed|ing)? (?:(?:it|them|this|that) )?(on|off)(?!\p{L})/gu
const toSwitch = (_: string, state: string) => (state === 'on' ? ' enabled ' : ' disabled ')

const atMost = /(?<!\p{L})(?:at (?:the )?most|(?:no|not) (?:more|longer|later) than|up to)(?!\p{L})/gu
const atLeast =
  /(?<!\p{L})(?:at (?:the )?least|(?:no|not) (?:less|fewer|earlier) than|or (?:more|over|older))(?!\p{L})/gu
const contracted = /n['’]t(?!\p{L})/gu

/**
 * Words with opposite meanings, `a/b`, with `|` between words of one side; of a word with `~` also its forms as a verb. Pure data. Only pairs of
 * which one denies the other in the same place of a sentence: a fact does not name both.
 */
const pairs: Readonly<Record<Language, string>> = {
  en:
    'allowed|permitted|~allow|~permit/forbidden|banned|~prohibit|forbids|~disallow legal|legally|lawful|lawfully/illegal|illegally|unlawful|unlawfully possible/impossible able/unable ~include|included|inclusive/~exclude|excluded|exclusive|~omit|omitted|omitting ' +
    'required|mandatory|compulsory|obligatory/optional|voluntary ~accept|~approve/~reject|~refuse|denied|~decline ~increase|increasingly|~rise|rose|risen|~grow|grew|grown|growth|~raise|~expand|expansion/~decrease|~fall|fell|fallen|~shrink|shrank|shrunk|~drop|dropped|dropping|~reduce|reduction|~lower|~diminish|~decline ' +
    'higher|highest|high/lower|lowest|low more|most|greater|greatest/less|least|fewer|fewest|smaller always/never with/without available|availability/unavailable ~enable/~disable ' +
    'large|larger|largest|big|bigger|biggest/small|smaller|smallest first/last before|prior/after public|publicly/private|privately common|commonly|frequent|frequently|often/rare|rarely|uncommon|infrequent|infrequently|seldom necessary/unnecessary|needless successful|successfully/unsuccessful|unsuccessfully all|every|everyone|everybody|each/none|nobody|neither ' +
    'longer|longest|long/shorter|shortest|short older|oldest|old/younger|youngest|young|new|newest best|better/worst|worse strong|stronger|strongest|strongly/weak|weaker|weakest|weakly early|earlier|earliest/late|later|latest north|northern/south|southern summer/winter ' +
    'east|eastern/west|western left/right inside|indoors|indoor/outside|outdoors|outdoor above/below win|won|wins|winning|winner|winners/lose|lost|loses|losing|loser|losers safe|safely|safer/unsafe|dangerous free|freely|gratis/charged|chargeable|charge|charges|fee|fees|pay|pays|paid|cost|costs male/female major|majority/minor|minority true/false ' +
    'maximum/minimum many|most|numerous/few up|upward|upwards/down|downward|downwards over/under positive|positively/negative|negatively internal|internally/external|externally upper/lower ~import/~export ' +
    '~keep|kept|~retain|~preserve|stored|storing/~delete|~erase|~discard|~remove ~open/~close|shut|shuts active/inactive valid/invalid|void visible/hidden|invisible online/offline easy|easier|easily|easiest|simple|simpler|simply/difficult|hard|harder|hardest|complex|complicated fast|faster|fastest|quick|quickly|quicker|rapid|rapidly/slow|slower|slowly|slowest|gradual|gradually cheap|cheaper|cheapest|inexpensive/expensive|costly ' +
    'correct|correctly|accurate|accurately/incorrect|incorrectly|inaccurate|wrong complete|completely/incomplete direct|directly/indirect|indirectly similar|similarly|same|identical/separate|separately|distinct|different|differently|dissimilar dependent|depends/independent|independently likely/unlikely known/unknown limited|restricted/unlimited|unrestricted encrypted/unencrypted ' +
    'official|officially/unofficial|unofficially formal|formally/informal|informally permanent|permanently/temporary|temporarily sufficient|enough|adequate/insufficient|inadequate effective/ineffective eligible/ineligible capable/incapable stable/unstable clear|clearly/unclear usual|usually|normal|normally|typical|typically/unusual|unusually|abnormal|atypical ' +
    'aware/unaware willing/unwilling ~agree|agreeing/~disagree ~support/~oppose|opposing ~improve/~worsen ~gain/lose|loses|lost|losing ' +
    '~add/~remove ~connect/~disconnect ~lock/~unlock ~succeed/~fail ~appear/~disappear ' +
    '~encourage/~discourage begin|begins|began|begun|beginning|~start/~end|stop|stops|stopped|stopping|finish|finishes|finished buy|buys|bought|buying|~purchase/sell|sells|sold|selling full/empty wet/dry hot|hotter|hottest|warm|warmer/cold|colder|coldest|cool|cooler ' +
    'rich|richer|wealthy/poor|poorer heavy|heavier/light|lighter wide|wider|broad|broader/narrow|narrower deep|deeper|deepest/shallow thick|thicker/thin|thinner advantage|advantages|benefit|benefits/disadvantage|disadvantages|harm|harms ' +
    'partially|partly/fully|entirely|wholly inner/outer front/back top/bottom present/absent used/unused married/unmarried alive|living/dead domestic|domestically/foreign urban/rural natural|naturally/artificial|artificially simple/complex ' +
    'ancient/modern senior/junior primary/secondary liable|responsible/exempt guilty/innocent ~borrow/lend|lends|lent|lending profit|profits|profitable/loss|losses|unprofitable ' +
    '~attach/~detach ~install/uninstall|uninstalls|uninstalled|uninstalling ~activate/~deactivate ~accelerate/~slow ~strengthen/~weaken ~arrive|arrival/~depart|departure ~deposit/withdraw|withdraws|withdrew|withdrawn ascending/descending horizontal|horizontally/vertical|vertically ' +
    'together|jointly/separately|individually upgrade|upgrades|upgraded|upgrading/downgrade|downgrades|downgraded|downgrading good/bad|poor minor|minors/adult|adults ~widen/~narrow oral|orally|spoken/written|writing synchronous|synchronously/asynchronous|asynchronously ~add/~remove|drop|drops|dropped|dropping minimum|least/maximum|most ' +
    'automatic|automatically/manual|manually ~double|doubling|twice/halve|halves|halved|halving success|successes/failure|failures ~split|splitting|~divide|~separate/~merge|merging|~combine ~grant/~revoke ~load/~unload ~pass/~fail ' +
    '~subscribe/~unsubscribe ~publish/~unpublish ~encrypt/~decrypt ~compress/~decompress ~ascend/~descend ~trust/~distrust ~extend|~lengthen/~shorten ~tighten/~loosen|~relax ~attack/~defend ~upload/~download victory|victories/defeat|defeats ' +
    'parallel|simultaneously|simultaneous/sequential|sequentially|consecutively input|inputs/output|outputs incoming|inbound/outgoing|outbound credit|credits/debit|debits asset|assets/liability|liabilities surplus/deficit|shortage morning|mornings/evening|evenings ' +
    'day|daytime/night|nighttime weekday|weekdays/weekend|weekends born/died loud|loudly/quiet|quietly bright/dark clean/dirty smooth/rough tight/loose fresh/stale|frozen healthy/sick|ill awake/asleep real|genuine/fake|counterfeit local|locally/global|globally|remote|remotely ' +
    'national|nationally/international|internationally static/dynamic single/multiple singular/plural flexible/rigid near|nearby/far|distant strict|strictly/lenient offensive/defensive active|actively/passive|passively optimistic/pessimistic mild/severe benign/malignant acute/chronic ' +
    'harmful|toxic|poisonous/harmless painful/painless careful|carefully/careless|carelessly powerful/powerless occupied/vacant wholesale/retail voluntary|voluntarily/compulsory|involuntary|forced backward|backwards/forward|forwards beginner|beginners/expert|experts ' +
    'important|significant|significantly/unimportant|insignificant|negligible helpful|useful/unhelpful|useless compatible/incompatible reversible/irreversible regular|regularly/irregular|irregularly relevant/irrelevant mature/immature',
  de:
    'beginnt|beginn|begann|fängt|startet/endet|ende|endete mindestens/höchstens eingeschaltet|aktiviert|an/ausgeschaltet|deaktiviert|aus gut|gute|guten|guter/schlecht|schlechte|schlechten zunahm|zunehmen|zugenommen/abnahm|abnehmen|abgenommen automatisch/manuell gültig|gültige/ungültig|ungültige öffnet|öffnen/schließt|schließen erhöht|erhöhte|steigt/gesenkt|senkt|verringert verdoppelt/halbiert sichtbar/unsichtbar vormittags|morgens/abends|nachmittags vorteil|vorteile/nachteil|nachteile import|importe/export|exporte aktiv/inaktiv gewinn/verlust schnell|schneller/langsam|langsamer einfach|leicht/schwierig|schwer billig|billiger|günstig/teuer|teurer minimum/maximum ' +
    'erlaubt|gestattet|zulässig/verboten|untersagt|unzulässig möglich/unmöglich mit/ohne immer|stets/nie|niemals alle|jeder|jede|jedes/keine|keiner|keines mehr|meisten/weniger|wenigsten höher|höchste|höchsten|hoch/niedriger|niedrigste|niedrig ' +
    'größer|größte|größten|groß|große/kleiner|kleinste|kleinsten|klein|kleine erste|ersten/letzte|letzten vor/nach enthalten|inbegriffen|inklusive/ausgeschlossen|exklusive öffentlich|öffentliche/privat|private ' +
    'erforderlich|pflichtig|verpflichtend/freiwillig|optional angenommen|akzeptiert/abgelehnt stieg|steigt|gestiegen/sank|sinkt|gesunken|fiel älter|älteste|alt/jünger|jüngste|jung länger|längste/kürzer|kürzeste innerhalb/außerhalb ' +
    'nördlich|norden/südlich|süden östlich|osten/westlich|westen gewann|gewonnen/verlor|verloren verfügbar/nicht-verfügbar früher/später häufig/selten kostenlos|kostenfrei|gratis|umsonst|unentgeltlich/kostenpflichtig|kostet|kosten|bezahlen|zahlen geöffnet|offen/geschlossen links|linke|linken/rechts|rechte|rechten oben/unten sommer/winter maximal/minimal',
  fr:
    'autorisé|autorisée|autorisés|autorisées|permis/interdit|interdite|interdits|interdites possible/impossible avec/sans toujours/jamais tous|toutes/aucun|aucune plus/moins grand|grande/petit|petite premier|première/dernier|dernière avant/après public|publique/privé|privée ' +
    ' obligatoire/facultatif|facultative inclus|incluse|compris/exclu|exclue accepté|acceptée|acceptés|acceptées|admis|admise|admises/refusé|refusée|refusés|refusées légal|légale/illégal|illégale gratuit|gratuite|gratuits|gratuites/payant|payante|payants|payantes|coûte|coûtent|paie|paient|payer ouvert|ouverte|ouverts|ouvertes/fermé|fermée|fermés|fermées gauche/droite dedans|intérieur/dehors|extérieur augmente|augmenté|augmentent|hausse|monté|progresse/diminue|diminuent|diminué|baisse accepte|acceptent/refuse|refusent été/hiver maximum/minimum nord/sud est/ouest',
  es:
    'permitido|permitida|permitidos/prohibido|prohibida|prohibidos posible/imposible con/sin siempre/nunca todos|todas/ninguno|ninguna más/menos grande|mayor/pequeño|menor primero|primera|primer/último|última antes/después público|pública/privado|privada ' +
    ' obligatorio|obligatoria/opcional|voluntario incluido|incluida/excluido|excluida aceptado|aceptada/rechazado|rechazada legal/ilegal norte/sur gratuito|gratuita|gratuitos|gratuitas|gratis/pago|cuesta|cuestan|paga|pagar|pagan abierto|abierta|abiertos|abiertas|abre|abren/cierra|cierran|cerrado|cerrada|cerrados|cerradas acepta|aceptan/rechaza|rechazan dentro/fuera izquierda/derecha aumentó|aumenta|aumentado|subió|sube|subido|creció|crecido/disminuyó|disminuye|disminuido|bajó|baja|bajado|cayó|caído verano/invierno máximo/mínimo este/oeste',
  it:
    'consentito|consentita|permesso|ammesso|ammessi/vietato|vietata|proibito|vietati possibile/impossibile con/senza sempre/mai tutti|tutte/nessuno|nessuna più/meno grande|maggiore/piccolo|minore primo|prima/ultimo|ultima pubblico|pubblica/privato|privata ' +
    ' aumenta|aumentato|aumentata|aumentati|cresciuto|salito/diminuisce|diminuito|diminuita|diminuiti|sceso|calato apre|aperto|aperta|aperti|aperte/chiude|chiuso|chiusa|chiusi|chiuse gratis|gratuito|gratuita/paga|pagano|pagare|costa|costano inizia/finisce|termina meglio/peggio alto|alta/basso|bassa interno/esterno destra/sinistra accetta|accettato/rifiuta|rifiutato estate/inverno massimo/minimo nord/sud est/ovest ' +
    ' obbligatorio|obbligatoria/facoltativo|facoltativa incluso|inclusa|compreso/escluso|esclusa legale/illegale nord/sud',
  pt:
    'permitido|permitida|permitidos/proibido|proibida|proibidos possível/impossível com/sem sempre/nunca|jamais todos|todas/nenhum|nenhuma mais/menos grande|maior/pequeno|menor primeiro|primeira/último|última antes/depois público|pública/privado|privada ' +
    ' aumenta|aumentou|aumentado|subiu|cresceu/diminui|diminuiu|diminuído|caiu|desceu abre|aberto|aberta/fecha|fechado|fechada grátis|gratuito|gratuita/paga|pagam|pagar|custa|custam começa/termina melhor/pior alto|alta/baixo|baixa direita/esquerda aceita|aceite/recusa|recusado verão/inverno máximo/mínimo leste/oeste ' +
    ' obrigatório|obrigatória/opcional|facultativo incluído|incluída/excluído|excluída legal/ilegal norte/sul',
  nl: 'toegestaan/verboten mogelijk/onmogelijk met/zonder altijd/nooit alle/geen meer|meeste/minder|minste groter|grootste|groot/kleiner|kleinste|klein eerste/laatste voor/na verplicht/optioneel|vrijwillig inbegrepen/uitgesloten gratis|kosteloos|kosteloze/betaald|betalen|betaalt|kost|kosten open|opent|geopend/dicht|sluit|gesloten openbaar/privé hoger|hoogste/lager|laagste',
  sv: 'tillåtet|tillåtna|tillåten/förbjudet|förbjudna|förbjuden möjligt/omöjligt med/utan alltid/aldrig alla/inga mer|flest/mindre|minst större|största/mindre|minsta första/sista före/efter obligatoriskt/frivilligt',
  vi: 'tăng/giảm mở/đóng trước/sau nhiều/ít cao/thấp lớn/nhỏ nhanh/chậm dài/ngắn mua/bán',
  pl: 'dozwolone|dozwolony|dozwolona/zabronione|zabroniony|zakazane możliwe/niemożliwe z|ze/bez zawsze/nigdy więcej/mniej większy|największy/mniejszy|najmniejszy pierwszy|pierwsza/ostatni|ostatnia przed/po obowiązkowe/dobrowolne',
}

/** Of languages in another script than Latin and Cyrillic. */
const others: Readonly<Record<Language, string>> = {
  zh:
    '免费|免費/付费|付費|收费|收費 开放|開放|开门|開門/关闭|關閉|关门|關門 最多/最少 最大/最小 最高/最低 增加|上升|增长/减少|減少|下降 之前|以前/之后|以后|之後|以後 左边|左侧/右边|右侧 ' +
    '公立|公共/私立|私人 成功/失败|失敗 支持/反对|反對 接受|同意/拒绝|拒絕 必须|必需/可选 室内/室外 夏季|夏天/冬季|冬天 第一/最后',
  ar:
    'مفتوح|مفتوحة/مغلق|مغلقة مسموح|مسموحة|يسمح/ممنوع|ممنوعة|محظور قبل/بعد أكثر/أقل داخل/خارج مجاني|مجانية|مجانا/مدفوع|مدفوعة|يدفع|تدفع ارتفع|زاد|ازداد/انخفض|تراجع|قل أول|أولى/أخير|أخيرة شمال/جنوب شرق/غرب أكبر/أصغر ' +
    'أعلى/أدنى يمين/يسار إلزامي|إلزامية/اختياري|اختيارية دائما/أبدا',
}
const arabicArticle = /^(?:ال)(?=.{3})/u

const cyrillic =
  'разрешено|разрешены|разрешается/запрещено|запрещены|запрещается возможно/невозможно с|со/без всегда/никогда все/никто больше|более/меньше|менее большой|крупнейший/маленький|малый первый|первая/последний|последняя до/после обязательно/добровольно'

/** The sides of pairs that a word is: positive and negative numbers are opposites. */
const sides = new Map<Language, Map<string, number[]>>()

function sidesOf(language: Language): Map<string, number[]> {
  const known = sides.get(language)
  if (known) return known
  const words = new Map<string, number[]>()
  const written = language === 'ru' ? cyrillic : (pairs[language] ?? others[language] ?? '')
  for (const [index, pair] of written.split(' ').filter(Boolean).entries()) {
    for (const [side, written] of pair.split('/').entries())
      for (const form of written.split('|').flatMap(formsOf))
        words.set(form, [...new Set([...(words.get(form) ?? []), side === 0 ? index + 1 : -index - 1])])
  }
  sides.set(language, words)
  return words
}

/** "Increase", "increases", "increased" and "increasing" for `~increase`. */
function formsOf(written: string): string[] {
  if (!written.startsWith('~')) return [written]
  const verb = written.slice(1)
  const stem = verb.replace(/e$/, '')
  const third = verb.replace(/(?<=[sxh])$/, 'e').replace(/(?<=[^aeo])y$/, 'ie')
  return [verb, `${third}s`, `${stem.replace(/(?<=[^aeo])y$/, 'i')}ed`, `${stem}ing`]
}

/** Which sides of which pairs a word (lower case) is; empty for other words. */
function oppositeSides(word: string, latin: Language): readonly number[] {
  const language = rulesForWord(word, latin)?.language
  if (language === undefined) return []
  return sidesOf(language).get(language === 'ar' ? word.replace(arabicArticle, '') : word) ?? []
}

/** How a clause limits what it states: to something, by an exception, or to a part. */
export type Restriction = 'only' | 'exception' | 'part'

/** Words that state something of all, in any case or at any time. Pure data. */
const universalWords: Readonly<Record<Language, string>> = {
  en: 'always|all(?! (?:right|but))(?<!\\bat all)|every|everyone|everybody|everything|(?:at|in|under) any \\p{L}+|anyone|anybody|anytime|anywhere|everywhere|whenever|wherever|unlimited|unrestricted\\p{L}*|as (?:often|many|much|long) as (?:you|they|one|we) \\p{L}+|(?:with)?out (?:any )?(?:limit|restriction|exception)s?',
  de: 'immer|stets|jederzeit|alle[nrs]?(?! (?:\\d|zwei|drei|vier|fünf|sechs|acht|zehn|paar))|jede[nmrs]?|überall|beliebig|sämtliche\\p{L}*|unbegrenzt|uneingeschränkt|ausnahmslos',
  fr: "toujours|tous|toutes|chaque|partout|n['’]importe|à tout moment|illimité\\p{L}*",
  es: 'siempre(?! que)|todos|todas|todo el|cada|cualquier\\p{L}*|ilimitad\\p{L}+',
  it: 'sempre(?! che)|tutti|tutte|ogni|qualsiasi|qualunque|ovunque|illimitat\\p{L}+',
  pt: 'sempre(?! que)|todos|todas|cada|qualquer|ilimitad\\p{L}+',
  nl: 'altijd|alle|elke?|iedere?|iedereen|overal|onbeperkt',
  sv: 'alltid|alla|varje|obegränsat',
  da: 'altid|alle|hver|hvert',
  no: 'alltid|alle|hver|hvert',
  pl: 'zawsze|wszystk\\p{L}+|każd\\p{L}+',
}
const universalOfScript: Readonly<Record<string, string>> = {
  cyrillic: 'всегда|все|всех|всем|кажд\\p{L}+|люб(?:ой|ая|ое|ые|ого|ому|ым|ых)|завжди|всі|кожн\\p{L}+',
  arabic: 'دائما|دائمًا|كل|جميع',
}
const universalInHan = /每|所有|全部|总是|總是|一直|任何|都|すべて|全て|いつも|常に|毎/u

const restrictingWords: Readonly<Record<Restriction, Readonly<Record<Language, string>>>> = {
  only: {
    en: 'only|solely|exclusively|(?:limited|restricted|confined) to|provided|as long as',
    de: 'nur|erst|ausschließlich|lediglich|beschränkt',
    fr: 'seulement|uniquement|exclusivement|seuls?|seules?|à condition|limitée?s?',
    es: 's[oó]lo|solamente|únicamente|exclusivamente|únic[oa]s?|siempre que',
    it: 'solo|soltanto|solamente|unicamente|esclusivamente|purché',
    pt: 'só|somente|apenas|unicamente|desde que',
    nl: 'alleen|slechts|uitsluitend|enkel|mits',
    sv: 'bara|endast|enbart',
    da: 'kun|udelukkende',
    no: 'bare|kun',
    pl: 'tylko|wyłącznie|jedynie',
  },
  exception: {
    en: 'unless|except|excluding|apart from|other than|save (?:in|for|where|when|that)|outside',
    de: 'sofern|außer|außerhalb|ausgenommen|es sei denn|mit ausnahme',
    fr: 'sauf|excepté|hormis|hors|en dehors|à moins',
    es: 'salvo|excepto|a menos|fuera de',
    it: 'tranne|eccetto|salvo|a meno|fuori da\\p{L}*',
    pt: 'exceto|salvo|a menos|fora d\\p{L}+',
    nl: 'behalve|tenzij|buiten|uitgezonderd',
    sv: 'utom|förutom|såvida',
    da: 'undtagen|medmindre',
    no: 'unntatt|med mindre',
    pl: 'oprócz|chyba|z wyjątkiem|poza',
  },
  part: {
    en: 'some|(?<!the )most(?! recent)|many|several|certain|up to|at most',
    de: 'einige|manche|bestimmte|die meisten|bis zu|höchstens',
    fr: 'certain\\p{L}*|quelques|la plupart|au plus',
    es: 'algun\\p{L}+|la mayoría|como máximo',
    it: 'alcun\\p{L}+|la maggior parte|al massimo',
    pt: 'algum\\p{L}*|alguns|a maioria|no máximo',
    nl: 'sommige|de meeste|hoogstens|enkele',
  },
}
const restrictingOfScript: Readonly<Record<string, readonly (readonly [Restriction, string])[]>> = {
  cyrillic: [
    ['only', 'только|лишь|исключительно'],
    ['exception', 'кроме|за исключением|крім'],
    ['part', 'некотор\\p{L}+|большинство'],
  ],
  arabic: [
    ['only', 'فقط'],
    ['exception', 'إلا|باستثناء'],
    ['part', 'بعض'],
  ],
}
const restrictingInHan: readonly (readonly [Restriction, RegExp])[] = [
  ['only', /只|仅|僅|才|だけ|のみ|限/u],
  ['exception', /除|因|ただし/u],
  ['part', /部分|有些|一部/u],
]

interface Place {
  script: string | null
  latin: Language
}

const compiled = new Map<string, RegExp>()

/** A pattern of whole words, compiled once. */
function patternOf(words: string): RegExp {
  const known = compiled.get(words) ?? lowerCasePattern(`(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])`)
  compiled.set(words, known)
  return known
}

const has = (words: string | undefined, text: string) => words !== undefined && patternOf(words).test(text)

/** Whether a part of a sentence states something of all. */
export function isUniversal(part: string, { script, latin }: Place): boolean {
  if (script === 'east_asian') return universalInHan.test(part)
  return has(script === 'latin' ? universalWords[latin] : universalOfScript[script ?? ''], part)
}

const restrictions = ['only', 'exception', 'part'] as const

/** How a part of a sentence limits what it states. */
export function restrictionsOf(part: string, { script, latin }: Place): Restriction[] {
  if (script === 'east_asian') return restrictingInHan.flatMap(([kind, words]) => (words.test(part) ? [kind] : []))
  if (script !== 'latin')
    return (restrictingOfScript[script ?? ''] ?? []).flatMap(([kind, words]) => (has(words, part) ? [kind] : []))
  return restrictions.filter((kind) => has(restrictingWords[kind][latin], part))
}

const startUnits = 20
/** Whether a part begins with what limits the one before or after it: "except on Sundays". */
export function startsWithRestriction(part: string, place: Place): boolean {
  return restrictionsOf(part.trimStart().slice(0, startUnits), place).includes('exception')
}

/** "Only with a permit": a condition, and no amount. */
const onlyCondition = lowerCasePattern(
  '(?<![\\p{L}\\p{M}])(?:only|solely|nur|ausschließlich|seulement|uniquement|s[oó]lo|solamente|únicamente|solo|soltanto|só|somente|apenas|alleen|uitsluitend|bara|endast|kun) ' +
    '(?:with|if|when|after|by|for|to|as|upon|under|mit|wenn|nach|für|als|unter|avec|pour|sur|si|après|con|para|se|si|per|met|voor|na|al|a|med|efter)(?![\\p{L}\\p{M}])',
)
const permission = lowerCasePattern(
  '(?<![\\p{L}\\p{M}])(?:allow\\p{L}*|permit\\p{L}*|possible|accept\\p{L}*|admit\\p{L}*|available|grant\\p{L}*|may|can|erlaubt|gestattet|möglich|darf|dürfen|zulässig|kann|können|angenommen|' +
    'autoris\\p{L}+|permis\\p{L}*|admis\\p{L}*|peut|peuvent|accept\\p{L}+|puede\\p{L}*|posible|ammess\\p{L}+|consentit\\p{L}+|possibil\\p{L}+|può|possono|toegestaan|mogelijk|mag|mogen|kan|kunnen|aangenomen)(?![\\p{L}\\p{M}])',
)

/** What follows "only with" or "only after" in a clause that allows something; null where it has none. */
export function afterOnly(part: string): string | null {
  const found = onlyCondition.exec(part)
  return found === null || !permission.test(part) ? null : part.slice(found.index + found[0].length)
}
