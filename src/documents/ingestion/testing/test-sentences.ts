/** Article 1 of the Universal Declaration of Human Rights, in the languages and the legacy encodings in which it was written. */
export const testSentences: { language: string; encodings: string[]; text: string }[] = [
  {
    language: 'German',
    encodings: ['windows-1252', 'macroman', 'cp850', 'cp437'],
    text: 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.',
  },
  {
    language: 'French',
    encodings: ['windows-1252', 'macroman', 'cp850', 'cp437'],
    text: 'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
  },
  {
    language: 'Spanish',
    encodings: ['windows-1252', 'macroman', 'cp850', 'cp437'],
    text: 'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros. Esta declaración será enseñada a los niños.',
  },
  {
    language: 'Portuguese',
    encodings: ['windows-1252', 'macroman', 'cp850'],
    text: 'Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir uns para com os outros em espírito de fraternidade.',
  },
  {
    language: 'Swedish',
    encodings: ['windows-1252', 'macroman', 'cp850', 'cp437'],
    text: 'Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap.',
  },
  {
    language: 'Danish',
    encodings: ['windows-1252', 'macroman', 'cp850'],
    text: 'Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.',
  },
  {
    language: 'Finnish',
    encodings: ['windows-1252', 'macroman', 'cp850'],
    text: 'Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä.',
  },
  {
    language: 'Polish',
    encodings: ['windows-1250', 'iso-8859-2', 'cp852', 'maccenteuro'],
    text: 'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.',
  },
  {
    language: 'Czech',
    encodings: ['windows-1250', 'iso-8859-2', 'cp852', 'maccenteuro'],
    text: 'Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.',
  },
  {
    language: 'Slovak',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv. Sú obdarení rozumom a majú navzájom jednať v bratskom duchu.',
  },
  {
    language: 'Hungarian',
    encodings: ['windows-1250', 'iso-8859-2', 'cp852'],
    text: 'Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.',
  },
  {
    language: 'Romanian',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Toate fiinţele umane se nasc libere şi egale în demnitate şi în drepturi. Ele sunt înzestrate cu raţiune şi conştiinţă şi trebuie să se comporte unele faţă de altele în spiritul fraternităţii.',
  },
  {
    language: 'Croatian',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i sviješću i trebaju jedna prema drugima postupati u duhu bratstva.',
  },
  {
    language: 'Turkish',
    encodings: ['windows-1254', 'cp857', 'macturkish'],
    text: 'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.',
  },
  {
    language: 'Lithuanian',
    encodings: ['windows-1257', 'iso-8859-13'],
    text: 'Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi elgtis vienas kito atžvilgiu kaip broliai.',
  },
  {
    language: 'Latvian',
    encodings: ['windows-1257', 'iso-8859-13'],
    text: 'Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu un sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.',
  },
  {
    language: 'Estonian',
    encodings: ['windows-1257'],
    text: 'Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud mõistus ja südametunnistus ja nende suhtumist üksteisesse peab kandma vendluse vaim.',
  },
  {
    language: 'Greek',
    encodings: ['windows-1253', 'iso-8859-7', 'cp737', 'macgreek'],
    text: 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.',
  },
  {
    language: 'Russian',
    encodings: ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5', 'maccyrillic'],
    text: 'Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  },
  {
    language: 'Ukrainian',
    encodings: ['windows-1251', 'koi8-u', 'cp1125'],
    text: 'Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.',
  },
  {
    language: 'Bulgarian',
    encodings: ['windows-1251', 'cp866'],
    text: 'Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят помежду си в дух на братство.',
  },
  {
    language: 'Serbian',
    encodings: ['windows-1251', 'iso-8859-5'],
    text: 'Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена разумом и свешћу и треба једни према другима да поступају у духу братства.',
  },
  {
    language: 'Hebrew',
    encodings: ['windows-1255', 'cp862'],
    text: 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.',
  },
  {
    language: 'Arabic',
    encodings: ['windows-1256', 'iso-8859-6'],
    text: 'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
  },
  {
    language: 'Thai',
    encodings: ['windows-874', 'tis-620'],
    text: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ',
  },
  {
    language: 'Simplified Chinese',
    encodings: ['gb18030'],
    text: '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。人人有资格享有本宣言所载的一切权利和自由，不分种族、肤色、性别、语言、宗教。',
  },
  {
    language: 'Traditional Chinese',
    encodings: ['big5', 'gb18030'],
    text: '人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。人人有資格享有本宣言所載的一切權利和自由，不分種族、膚色、性別、語言、宗教。',
  },
  {
    language: 'Japanese',
    encodings: ['shift_jis', 'euc-jp', 'iso-2022-jp'],
    text: 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。',
  },
  {
    language: 'Korean',
    encodings: ['euc-kr'],
    text: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
  },
  {
    language: 'Vietnamese',
    encodings: ['viscii', 'tcvn'],
    text: 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.',
  },
]
