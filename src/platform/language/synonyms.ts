/**
 * Words that people use for each other when they ask about rules, products and services: each line is one meaning. Everyday words
 * first, then those of handbooks. Only words that are wrong in few contexts, because a line holds in both directions.
 */

function lines(text: string): string[][] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
}

const english = lines(`
  cost price fee charge expensive rate
  pay payment paid charge billing purchase
  cheap discount reduced affordable rebate
  discount coupon voucher promotion rebate
  refund reimburse reimbursement money repay repayment
  money budget funds amount allowance payment
  bill invoice receipt
  subscription plan membership tier package
  buy purchase order checkout subscribe
  salary wage pay paid compensation earnings payroll
  raise increase promotion
  bonus reward incentive
  tax vat duty
  customer client subscriber user buyer
  people person somebody everyone everybody anyone member user individual team
  employee staff worker colleague coworker teammate personnel
  boss manager supervisor lead head
  company business firm organisation organization employer corporation
  job role position occupation
  role permission position
  hire recruit recruitment employ onboard
  fire fired dismiss dismissal terminate termination severance layoff
  quit resign resignation leave
  holiday vacation leave pto
  absent absence leave
  sick ill illness sickness unwell medical
  doctor physician medical clinic
  baby child newborn parental maternity paternity birth
  kid child children dependent
  family relative spouse partner dependent
  dead death die bereavement deceased
  home remote remotely house
  office workplace premises headquarters
  trip travel journey flight
  car vehicle automobile driving
  food meal lunch dinner catering
  computer laptop pc machine desktop device hardware
  phone mobile smartphone telephone
  gear equipment device tool
  desk chair furniture
  picture photo image photograph screenshot
  screen display monitor
  paper document form
  file document attachment
  mail email message inbox
  letter mail post
  tell inform notify notification report announce
  warn alert notification notify warning
  ask request contact
  reply answer respond response
  help support assistance assist
  problem issue error trouble fault bug failure
  broken fail failed damaged defective error
  fix repair resolve correct solve troubleshoot edit
  mistake error wrong incorrect
  wrong incorrect mistake error invalid missed
  change edit modify update adjust alter switch customize
  new fresh recent latest
  old previous former existing
  remove delete erase clear wipe purge discard
  block exclude shut shield filter ban
  exclude ignore block omit skip
  stop cancel end disable pause terminate unsubscribe
  begin start launch initiate
  end finish expire expiration complete
  keep retain retention preserve store
  save store backup keep
  lose lost missing forget forgot forgotten
  find locate search discover
  look view check appearance
  see view visible access display
  show display visible appear reveal
  hide hidden invisible
  create make add generate build
  put place add insert embed
  hang embed attach
  embed iframe widget
  give grant provide share assign
  get receive obtain
  fetch download retrieve obtain export
  send deliver transmit submit forward
  share link public invite
  move transfer migrate migration relocate
  hand transfer give
  copy duplicate clone backup
  backup recovery restore
  undo revert reverse restore
  allow permit let enable permission permitted
  forbid forbidden prohibit prohibited ban disallow
  permission access authorization privilege approval right
  approve approval authorize confirm consent
  must require required mandatory obligatory
  need require required necessary
  rule policy guideline regulation requirement
  law legal legislation regulation
  safe secure security protected
  secret private confidential
  private confidential privacy personal
  personal own private
  password passcode credentials pin
  login signin logging authentication credentials
  identity sso authentication
  code token key
  steal theft stolen
  hack breach attack compromise
  limit maximum cap quota threshold
  most maximum max
  least minimum min
  often frequency frequently times
  late delay delayed overdue
  quick fast rapid immediately instant
  slow delay latency
  now current currently realtime immediately
  day daily
  week weekly
  month monthly
  year annual yearly annually
  number count figure total
  numbers stats statistics metrics figures data
  stats statistics analytics metrics
  graph chart plot dashboard
  report summary
  page site website web
  address domain url
  visit visitor traffic pageview session
  visitor guest traffic
  country nation
  city town
  place location site position
  big large huge
  small little tiny
  part portion section sample share
  half part portion
  sample sampling
  whole entire full complete
  different various
  same identical equal
  together combine combined consolidated merge
  separate split individual
  choose select pick option
  press click tap button
  type enter input fill
  enable activate
  disable deactivate
  setup configure configuration install settings
  settings preferences configuration options
  color colour theme
  bookkeeper accountant accounting finance billing
  lawyer legal attorney
  insurance coverage insured
  accident injury incident emergency
  complain complaint grievance dispute
  harass harassment bullying discrimination
  training course education learning learn
  school education university
  pet dog cat animal
  smoke smoking tobacco
  celebrate celebration party event
  meeting call conference
  deadline due
  agreement contract terms
  rename name title
  profile account
  anonymous vpn proxy tor
  robot bot crawler automated spam
  test try trial demo
  version release edition
  tool software app application program
  server host hosting
  connect integrate integration connection
  plugin extension addon integration
  work valid function operate
  valid invalid expire
  viral popular spike surge
  spike increase surge peak
  increase rise grow growth
  decrease drop fall reduce reduction decline
  compare comparison versus
  ship shipping deliver delivery
  return refund exchange
  parcel package shipment
  warranty guarantee
  clean cleaning wash
  open unlock
  close shut lock
  locked suspended blocked
  invite invitation
  join signup register enroll
  register registration signup
  owner own ownership belong
  remark comment note annotation
  zero reset
  forever permanent permanently indefinitely
  back again restore
  charity nonprofit ngo
  student academic education
  kids children
  mates friends
  retire retirement pension
  weekend saturday sunday
  outside external abroad
  abroad international foreign overseas
  inside internal
  gym fitness wellness
  extra additional overtime
  anyway regardless
  swap replace exchange switch
`)

const german = lines(`
  kosten preis gebühr tarif teuer
  zahlen bezahlen zahlung begleichen
  rabatt ermäßigung nachlass
  rückerstattung erstattung erstatten
  geld betrag budget
  rechnung beleg quittung
  abo abonnement vertrag tarif
  kaufen bestellen bestellung erwerben
  lohn gehalt vergütung entgelt
  kunde auftraggeber nutzer
  mitarbeiter beschäftigte angestellte kollege personal
  chef vorgesetzter leitung führungskraft
  firma unternehmen betrieb arbeitgeber
  kündigen kündigung beenden
  urlaub ferien freistellung
  krank krankheit arbeitsunfähig krankmeldung
  arzt attest ärztlich
  kind kinder elternzeit
  reise dienstreise fahrt
  auto fahrzeug wagen
  essen mahlzeit verpflegung
  computer rechner gerät laptop
  handy mobiltelefon smartphone telefon
  bild foto abbildung
  datei dokument
  mail nachricht email
  melden mitteilen benachrichtigen informieren
  fragen anfragen anfrage
  hilfe unterstützung support
  problem fehler störung
  kaputt defekt beschädigt
  reparieren beheben instandsetzen
  ändern bearbeiten anpassen wechseln
  löschen entfernen
  anfangen beginnen starten beginn
  aufhören enden ende beenden
  behalten aufbewahren aufbewahrung speichern
  sehen anzeigen sichtbar ansehen
  verstecken ausblenden
  erstellen anlegen erzeugen
  schicken senden versenden
  erlauben gestatten zulässig erlaubt
  verboten untersagt unzulässig
  müssen erforderlich verpflichtet notwendig
  regel vorschrift richtlinie
  sicher sicherheit geschützt
  passwort kennwort
  anmelden einloggen anmeldung
  grenze höchstens maximal obergrenze
  oft häufig häufigkeit
  schnell sofort unverzüglich
  tag täglich
  monat monatlich
  jahr jährlich
  land staat
  wohnung wohnsitz
  wählen auswählen
  versicherung versichert
  unfall verletzung notfall
  schulung fortbildung weiterbildung
  hund haustier tier
  lieferung versand zustellung
  garantie gewährleistung
`)

/** By language, ISO 639-1. */
export const synonyms: Readonly<Record<string, readonly (readonly string[])[]>> = { en: english, de: german }
