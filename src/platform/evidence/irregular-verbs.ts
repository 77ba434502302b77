/** Irregular verbs of English with the forms that no stemmer joins: `verb form form`. Pure data. */
const written =
  'arise arose, bear bore, become became, begin began begun, bend bent, bind bound, bleed bled, blow blew ' +
  'blown, break broke broken, bring brought, build built, buy bought, catch caught, choose chose chosen, come ' +
  'came, deal dealt, draw drew drawn, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, ' +
  'fight fought, find found, fly flew flown, forget forgot forgotten, freeze froze frozen, get got, give gave ' +
  'given, go went gone, grow grew grown, hear heard, hide hid hidden, hold held, keep kept, know knew known, ' +
  'lay laid, lead led, leave left, lend lent, light lit, lose lost loss, make made, mean meant, meet met, pay paid, ' +
  'ride rode, ring rang, rise rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, ' +
  'shake shook shaken, shine shone, shoot shot, show shown, sing sang sung, sink sank, sit sat, sleep slept, ' +
  'speak spoke spoken, spend spent, stand stood, steal stole stolen, strike struck, swear swore, sweep swept, ' +
  'swim swam swum, take took taken, teach taught, tell told, think thought, throw threw thrown, understand ' +
  'understood, wake woke, wear wore worn, win won, write wrote written'

/** The verb of each form. */
export const irregularVerbs: ReadonlyMap<string, string> = new Map(
  written.split(', ').flatMap((line) => {
    const [verb = '', ...forms] = line.split(' ')
    return forms.map((form): [string, string] => [form, verb])
  }),
)
