import { type Language, rulesForWord } from '../language/index.ts'

/**
 * Words with opposite meanings, `a/b`, with `|` between words of one side. Pure data. Only pairs of which one denies the other in the same
 * place of a sentence: a fact does not name both.
 */
const pairs: Readonly<Record<Language, string>> = {
  en:
    'allowed|permitted|allows|permits/prohibited|forbidden|banned|prohibits|forbids legal|lawful/illegal|unlawful possible/impossible able/unable included|includes|including|include/excluded|excludes|excluding|exclude ' +
    'required|mandatory|compulsory/optional|voluntary accepted|accept|accepts|approved|approve|approves/rejected|reject|rejects|refused|refuses|denied|declined increase|increased|increases|rises|rose|risen|grow|grows|grew|grown|growth/decrease|decreased|decreases|falls|fell|fallen|shrink|shrinks|shrank|shrunk|drops|dropped ' +
    'higher|highest|high/lower|lowest|low more|most/less|least|fewer|fewest always/never with/without available/unavailable enabled|enables|enable/disabled|disables|disable ' +
    'large|larger|largest|big|bigger|biggest/small|smaller|smallest first/last before/after public/private common/rare|uncommon necessary/unnecessary successful/unsuccessful all|every|everyone|everybody/none|nobody ' +
    'longer|longest|long/shorter|shortest|short older|oldest|old/younger|youngest|young|new|newest best|better/worst|worse strong|stronger/weak|weaker early|earlier|earliest/late|later|latest north|northern/south|southern summer/winter ' +
    'east|eastern/west|western left/right inside/outside above/below win|won|wins/lose|lost|loses safe/unsafe|dangerous free|gratis/charged|chargeable|pay|pays|paid|cost|costs male/female major/minor true/false ' +
    'maximum/minimum many|most/few up/down over/under positive/negative internal/external upper/lower import|imports/export|exports ' +
    'open|opened/closed active/inactive valid/invalid visible/hidden|invisible online/offline easy|easier|simple/difficult|hard|harder|complex fast|faster|quick|quickly/slow|slower|slowly cheap|cheaper/expensive ' +
    'correct|correctly/incorrect|incorrectly complete/incomplete direct|directly/indirect|indirectly similar|same/different|dissimilar dependent/independent likely/unlikely known/unknown limited/unlimited encrypted/unencrypted ' +
    'official/unofficial formal/informal permanent|permanently/temporary|temporarily sufficient|enough/insufficient effective/ineffective eligible/ineligible capable/incapable stable/unstable clear/unclear usual|usually/unusual|unusually ' +
    'aware/unaware willing/unwilling agree|agrees|agreed/disagree|disagrees|disagreed support|supports|supported/oppose|opposes|opposed improve|improves|improved/worsen|worsens|worsened gain|gains|gained/lose|loses ' +
    'add|adds|added/remove|removes|removed connect|connects|connected/disconnect|disconnects|disconnected lock|locks|locked/unlock|unlocks|unlocked succeeds|succeeded/fails|failed appears|appeared/disappears|disappeared ' +
    'encourages|encouraged/discourages|discouraged begins|began|starts|started/ends|ended|stops|stopped buy|buys|bought/sell|sells|sold raises|raised/lowers|lowered full/empty wet/dry hot|hotter|warm|warmer/cold|colder|cool|cooler ' +
    'rich|richer/poor|poorer heavy|heavier/light|lighter wide|wider/narrow|narrower deep|deeper/shallow thick|thicker/thin|thinner majority/minority advantage|advantages/disadvantage|disadvantages often|frequently/rarely|seldom ' +
    'partially|partly/fully|completely|entirely inner/outer front/back top/bottom present/absent used/unused married/unmarried alive/dead domestic/foreign',
  de:
    'erlaubt|gestattet|zulässig/verboten|untersagt|unzulässig möglich/unmöglich mit/ohne immer|stets/nie|niemals alle|jeder|jede|jedes/keine|keiner|keines mehr|meisten/weniger|wenigsten höher|höchste|höchsten|hoch/niedriger|niedrigste|niedrig ' +
    'größer|größte|größten|groß|große/kleiner|kleinste|kleinsten|klein|kleine erste|ersten/letzte|letzten vor/nach enthalten|inbegriffen|inklusive/ausgeschlossen|exklusive öffentlich|öffentliche/privat|private ' +
    'erforderlich|pflichtig|verpflichtend/freiwillig|optional angenommen|akzeptiert/abgelehnt stieg|steigt|gestiegen/sank|sinkt|gesunken|fiel älter|älteste|alt/jünger|jüngste|jung länger|längste/kürzer|kürzeste innerhalb/außerhalb ' +
    'nördlich|norden/südlich|süden östlich|osten/westlich|westen gewann|gewonnen/verlor|verloren verfügbar/nicht-verfügbar früher/später häufig/selten kostenlos|kostenfrei|gratis|umsonst|unentgeltlich/kostenpflichtig|kostet|kosten|bezahlen|zahlen geöffnet|offen/geschlossen links|linke|linken/rechts|rechte|rechten oben/unten sommer/winter maximal/minimal',
  fr:
    'autorisé|autorisée|autorisés|permis/interdit|interdite|interdits possible/impossible avec/sans toujours/jamais tous|toutes/aucun|aucune plus/moins grand|grande/petit|petite premier|première/dernier|dernière avant/après public|publique/privé|privée ' +
    ' obligatoire/facultatif|facultative inclus|incluse|compris/exclu|exclue accepté|acceptée/refusé|refusée légal|légale/illégal|illégale gratuit|gratuite|gratuits|gratuites/payant|payante|payants|payantes|coûte|coûtent ouvert|ouverte|ouverts|ouvertes/fermé|fermée|fermés|fermées gauche/droite dedans|intérieur/dehors|extérieur augmente|augmenté|hausse/diminue|diminué|baisse accepte|acceptent/refuse|refusent été/hiver maximum/minimum nord/sud est/ouest',
  es:
    'permitido|permitida|permitidos/prohibido|prohibida|prohibidos posible/imposible con/sin siempre/nunca todos|todas/ninguno|ninguna más/menos grande|mayor/pequeño|menor primero|primera|primer/último|última antes/después público|pública/privado|privada ' +
    ' obligatorio|obligatoria/opcional|voluntario incluido|incluida/excluido|excluida aceptado|aceptada/rechazado|rechazada legal/ilegal norte/sur gratuito|gratuita|gratuitos|gratuitas|gratis/pago|cuesta|cuestan|pagar|pagan abierto|abierta|abiertos|abiertas|abre|abren/cerrado|cerrada|cerrados|cerradas acepta|aceptan/rechaza|rechazan dentro/fuera izquierda/derecha aumentó|aumenta|subió|creció/disminuyó|disminuye|bajó|cayó verano/invierno máximo/mínimo este/oeste',
  it:
    'consentito|consentita|permesso|ammesso|ammessi/vietato|vietata|proibito|vietati possibile/impossibile con/senza sempre/mai tutti|tutte/nessuno|nessuna più/meno grande|maggiore/piccolo|minore primo|prima/ultimo|ultima pubblico|pubblica/privato|privata ' +
    ' obbligatorio|obbligatoria/facoltativo|facoltativa incluso|inclusa|compreso/escluso|esclusa legale/illegale nord/sud',
  pt:
    'permitido|permitida|permitidos/proibido|proibida|proibidos possível/impossível com/sem sempre/nunca|jamais todos|todas/nenhum|nenhuma mais/menos grande|maior/pequeno|menor primeiro|primeira/último|última antes/depois público|pública/privado|privada ' +
    ' obrigatório|obrigatória/opcional|facultativo incluído|incluída/excluído|excluída legal/ilegal norte/sul',
  nl: 'toegestaan/verboten mogelijk/onmogelijk met/zonder altijd/nooit alle/geen meer|meeste/minder|minste groter|grootste|groot/kleiner|kleinste|klein eerste/laatste voor/na verplicht/optioneel|vrijwillig inbegrepen/uitgesloten openbaar/privé hoger|hoogste/lager|laagste',
  sv: 'tillåtet|tillåtna|tillåten/förbjudet|förbjudna|förbjuden möjligt/omöjligt med/utan alltid/aldrig alla/inga mer|flest/mindre|minst större|största/mindre|minsta första/sista före/efter obligatoriskt/frivilligt',
  pl: 'dozwolone|dozwolony|dozwolona/zabronione|zabroniony|zakazane możliwe/niemożliwe z|ze/bez zawsze/nigdy więcej/mniej większy|największy/mniejszy|najmniejszy pierwszy|pierwsza/ostatni|ostatnia przed/po obowiązkowe/dobrowolne',
}

/** Of languages in another script than Latin and Cyrillic. */
const others: Readonly<Record<Language, string>> = {
  zh:
    '免费|免費/付费|付費|收费|收費 开放|開放|开门|開門/关闭|關閉|关门|關門 最多/最少 最大/最小 最高/最低 增加|上升|增长/减少|減少|下降 之前|以前/之后|以后|之後|以後 左边|左侧/右边|右侧 ' +
    '公立|公共/私立|私人 成功/失败|失敗 支持/反对|反對 接受|同意/拒绝|拒絕 必须|必需/可选 室内/室外 夏季|夏天/冬季|冬天 第一/最后',
  ar:
    'مفتوح|مفتوحة/مغلق|مغلقة مسموح|مسموحة|يسمح/ممنوع|ممنوعة|محظور قبل/بعد أكثر/أقل داخل/خارج مجاني|مجانية|مجانا/مدفوع|مدفوعة ارتفع|زاد|ازداد/انخفض|تراجع|قل أول|أولى/أخير|أخيرة شمال/جنوب شرق/غرب أكبر/أصغر ' +
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
    for (const [side, forms] of pair.split('/').entries())
      for (const form of forms.split('|'))
        words.set(form, [...(words.get(form) ?? []), side === 0 ? index + 1 : -index - 1])
  }
  sides.set(language, words)
  return words
}

/** Which sides of which pairs a word (lower case) is; empty for other words. */
export function oppositeSides(word: string, latin: Language): readonly number[] {
  const language = rulesForWord(word, latin)?.language
  if (language === undefined) return []
  return sidesOf(language).get(language === 'ar' ? word.replace(arabicArticle, '') : word) ?? []
}
