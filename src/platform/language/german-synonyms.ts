/** German words that people use for each other, each line one meaning: `synonyms.ts` has the rule. */
export const germanSynonyms = `
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
  wegwerfen löschen papierkorb
  zurückbekommen wiederherstellen rückgängig
  verbergen verstecken ausblenden
  abziehen entfernen auswerfen trennen
  einstecken anschließen verbinden
  heiß warm überhitzen temperatur
  laut lautstärke ton
  ton klang audio lautsprecher
  dunkel helligkeit abdunkeln
  schrift buchstaben text
  wlan funknetzwerk internet netzwerk
  internet web online netzwerk
  webseite seite website
  schlafen bereitschaft ruhezustand
  aufwachen aufwecken fortsetzen
  zuklappen deckel schließen
  neustart starten
  akku batterie laden
  film video
  ordner verzeichnis
  stick usb laufwerk
  festplatte laufwerk speicher
  drucken ausdruck drucker
  blatt papier seite
  tinte toner patrone
  virus schadsoftware
  sprache übersetzung
  termin besprechung kalender
  kopie sicherung datensicherung
  sichern sicherung datensicherung
  aufheben aufbewahren
  konto benutzerkonto profil
  maus taste mauszeiger
  tauschen wechseln austauschen
  hören ton
  stören unterbrechen benachrichtigung
  oma großmutter großeltern
  mutter vater eltern
  ehefrau ehemann ehepartner
  schwanger schwangerschaft mutterschutz
  tod todesfall trauerfall beerdigung
  krankenhaus klinik
  medikament arznei rezept
  lohn lohnzahlung gehalt
  spesen auslagen erstattung
  überstunden mehrarbeit
  pause unterbrechung
  fahrrad rad
  zug bahn
  parken parkplatz
  hotel unterkunft übernachtung
  miete mietvertrag
  vermieter eigentümer
  mahnung verzug überfällig
  strafe bußgeld sanktion
  kostenlos gratis unentgeltlich
  gutschein geschenk
  verlängern verlängerung
  ablaufen ablauf gültigkeit
  beschwerde reklamation
  antrag bewerbung
  unterschrift unterschreiben
  nachweis bescheinigung beleg
  ausweis personalausweis
  behindert barrierefrei barrierefreiheit
  gefahr risiko riskant gefährlich
  eingang zugang eintritt
  kleidung kleiderordnung
  unterricht kurs
  prüfung test
  umfrage abstimmung
  müll abfall
  ausland länder fremd
  gewinn ertrag überschuss
`
