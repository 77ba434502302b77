import { type Language, rulesForWord } from '../language/index.ts'

/**
 * Words with opposite meanings, `a/b`, with `|` between words of one side. Pure data. Only pairs of which one denies the other in the same
 * place of a sentence: a fact does not name both.
 */
const pairs: Readonly<Record<Language, string>> = {
  en:
    'allowed|permitted|allows|permits/prohibited|forbidden|banned|prohibits|forbids legal|lawful/illegal|unlawful possible/impossible able/unable included|includes|including|include/excluded|excludes|excluding|exclude ' +
    'required|mandatory|compulsory/optional|voluntary accepted|accept|accepts/rejected|reject|rejects|refused|refuses approved/denied increase|increased|increases|rises|rose/decrease|decreased|decreases|falls|fell ' +
    'higher|highest|high/lower|lowest|low more|most/less|least|fewer|fewest always/never with/without available/unavailable enabled|enables|enable/disabled|disables|disable ' +
    'large|larger|largest|big|bigger|biggest/small|smaller|smallest first/last before/after public/private common/rare|uncommon necessary/unnecessary successful/unsuccessful all|every|everyone|everybody/none|nobody ' +
    'longer|longest|long/shorter|shortest|short older|oldest|old/younger|youngest|young|new|newest best|better/worst|worse strong|stronger/weak|weaker early|earlier|earliest/late|later|latest north|northern/south|southern ' +
    'east|eastern/west|western left/right inside/outside above/below win|won|wins/lose|lost|loses safe/unsafe|dangerous free/charged male/female major/minor true/false ' +
    'maximum/minimum many/few up/down over/under positive/negative internal/external upper/lower import|imports/export|exports ' +
    'open|opens|opened/closed|close|closes active/inactive valid/invalid visible/hidden|invisible online/offline easy|easier|simple/difficult|hard|harder|complex fast|faster|quick|quickly/slow|slower|slowly cheap|cheaper/expensive ' +
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
    'nördlich|norden/südlich|süden östlich|osten/westlich|westen gewann|gewonnen/verlor|verloren verfügbar/nicht-verfügbar früher/später häufig/selten kostenlos|kostenfrei/kostenpflichtig maximal/minimal',
  fr:
    'autorisé|autorisée|autorisés|permis/interdit|interdite|interdits possible/impossible avec/sans toujours/jamais tous|toutes/aucun|aucune plus/moins grand|grande/petit|petite premier|première/dernier|dernière avant/après public|publique/privé|privée ' +
    ' obligatoire/facultatif|facultative inclus|incluse|compris/exclu|exclue accepté|acceptée/refusé|refusée légal|légale/illégal|illégale gratuit|gratuite/payant|payante nord/sud est/ouest',
  es:
    'permitido|permitida|permitidos/prohibido|prohibida|prohibidos posible/imposible con/sin siempre/nunca todos|todas/ninguno|ninguna más/menos grande|mayor/pequeño|menor primero|primera|primer/último|última antes/después público|pública/privado|privada ' +
    ' obligatorio|obligatoria/opcional|voluntario incluido|incluida/excluido|excluida aceptado|aceptada/rechazado|rechazada legal/ilegal norte/sur gratuito|gratis/pago',
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

const cyrillic =
  'разрешено|разрешены|разрешается/запрещено|запрещены|запрещается возможно/невозможно с|со/без всегда/никогда все/никто больше|более/меньше|менее большой|крупнейший/маленький|малый первый|первая/последний|последняя до/после обязательно/добровольно'

/** A side of a pair: positive and negative numbers are opposites. */
const sides = new Map<Language, Map<string, number>>()

function sidesOf(language: Language): Map<string, number> {
  const known = sides.get(language)
  if (known) return known
  const words = new Map<string, number>()
  const written = language === 'ru' ? cyrillic : (pairs[language] ?? '')
  for (const [index, pair] of written.split(' ').filter(Boolean).entries()) {
    for (const [side, forms] of pair.split('/').entries())
      for (const form of forms.split('|')) if (!words.has(form)) words.set(form, side === 0 ? index + 1 : -index - 1)
  }
  sides.set(language, words)
  return words
}

/** Which side of which pair a word (lower case) is; undefined for other words. */
export function oppositeSide(word: string, latin: Language): number | undefined {
  const language = rulesForWord(word, latin)?.language
  return language === undefined ? undefined : sidesOf(language).get(word)
}
