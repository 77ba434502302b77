/** English words that people use for each other, each line one meaning: `synonyms.ts` has the rule. */
export const englishSynonyms = `
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
  throw toss dump discard trash delete
  trash bin garbage recycle deleted
  recover restore retrieve undelete
  unplug disconnect detach eject remove
  plug connect attach insert connector
  pair connect link
  hot heat overheat warm temperature
  loud noise volume
  noise sound buzz crackle hum
  sound audio speaker volume
  quiet silent mute
  dim dark brightness
  bright brightness light
  letters characters font text
  wifi wireless wlan
  internet web online network
  sleep suspend standby hibernate
  wake resume
  restart reboot
  charge charger charging battery
  movie film video
  record recording capture
  song music track
  shortcut hotkey keyboard
  folder directory
  drive disk storage
  stick usb
  storage capacity space
  print printing printer printout
  sheet paper page
  ink toner cartridge
  stuck jam jammed
  virus malware antivirus
  language translation translate locale
  appointment meeting booking
  schedule calendar timetable
  duplicate twice double copy
  friend contact
  spy monitor track surveillance
  follow subscribe
  vanish disappear missing lost
  popup notification alert
  bother disturb annoy interrupt
  remind reminder notification
  typo misspelled spelling mistake
  blurry fuzzy
  freeze frozen unresponsive
  crash failure quit
  sluggish slow performance
  favorite favourite bookmark pin
  grandma grandmother grandparent
  grandpa grandfather grandparent
  mom mum mother parent
  dad father parent
  wife husband spouse partner
  pregnant pregnancy maternity parental birth caregiver
  funeral bereavement death
  depressed stress mental counselling counseling wellbeing
  hospital clinic medical
  medicine prescription drug medication
  teeth dental dentist
  glasses vision optician
  injured injury hurt accident
  wages wage salary pay
  income earnings profit revenue
  share stock equity
  sit seat chair
  slip receipt voucher
  expense reimburse reimbursement spending
  fair exhibition conference trade
  conference convention event summit
  sabbatical leave break
  break pause rest
  commute travel transport
  train rail transport
  parking park garage
  bike bicycle cycling
  plane airplane flight aircraft
  hotel accommodation lodging
  room apartment accommodation
  rent rental lease tenancy
  tenant renter
  landlord lessor
  borrow loan lend
  deposit prepayment advance
  card credit debit
  cash coins money
  bitcoin crypto cryptocurrency
  installment instalment
  owe outstanding due unpaid
  penalty fine sanction
  disciplinary penalty punish sanction
  quote estimate offer
  renew renewal extend extension prolong
  lapse expire expiry
  gratis complimentary free
  gift present
  prize award reward
  cart basket checkout
  stock available inventory
  outage downtime maintenance
  courier carrier delivery
  arrive arrival delivery
  claim complaint
  review feedback rating opinion
  apply application applicant candidate
  signature sign
  certificate certification proof evidence
  verify verification check validate
  passport identification id
  minor underage child
  adult age
  elderly senior old
  disabled disability accessible accessibility wheelchair
  allergy allergic intolerance
  drink beverage
  laundry wash clean
  fire emergency alarm
  danger dangerous risk risky hazard
  entrance entry door
  entry admission ticket
  badge card pass
  police authority authorities
  clothes clothing dress attire
  lesson class course
  teacher instructor trainer
  exam test examination
  grade mark score
  pupil student
  degree diploma qualification
  newcomer onboarding introduction
  probation trial
  goal objective target
  decide decision
  vote poll election survey
  minutes protocol
  draft unpublished
  publish post release
  chat message conversation
  thread discussion conversation
  spam junk
  emoji emoticon reaction
  channel room stream
  organiser organizer host
  postpone reschedule delay
  parallel simultaneous concurrent
  automatic automatically
  usual usually normally default standard
  custom customize customise personalize personalise
  background wallpaper
  logo branding brand
  nearby near
  highest maximum top
  lowest minimum
  recommend suggest advise
  advantage benefit perk
  limitation restriction limit
  enough sufficient
  hotline phone support
  encrypt encryption encrypted
  sync synchronize synchronise
  uninstall remove
  developer programmer
  log history record
  filter narrow
  label tag
  zoom magnify enlarge
  finger fingerprint biometric thumb
  authenticator 2fa
  headset headphones earphones
  camera webcam
  cable cord wire
  outlet socket
`
