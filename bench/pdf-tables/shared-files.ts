import type { CellQuestion } from './cases.ts'

const cell = (question: string, row: string, column: string, value: string): CellQuestion => ({
  question,
  row,
  column: [column],
  value,
})

/** Questions over tables in the shared pdf documents, written from how the pages look. */
export const sharedQuestions: Record<string, CellQuestion[]> = {
  'SPARSE-2024-INV-1234_borderless_table.pdf': [
    cell('What is the unit cost of SKU-9201?', 'SKU-9201', 'Unit Cost', '$32.50'),
    cell('total value of SKU-2234', 'SKU-2234', 'Total Value', '$35,000.00'),
    cell('When was the last audit of SKU-6678?', 'SKU-6678', 'Last Audit', '2024-10-25'),
    cell('Which notes are there on SKU-5512?', 'SKU-5512', 'Notes', 'Pending'),
    cell('Which category is SKU-7728 in?', 'SKU-7728', 'Category', 'Accessories'),
  ],
  'movie-theater-booking-2024.pdf': [
    cell('Which occupancy is booked for December 2024?', 'December 2024', 'Occupancy', '85%'),
    cell('net amount of December 2024', 'December 2024', 'Net Amount', '$11,250.00'),
    cell('What is the rate of the show on screen SCR-2?', 'SCR-2', 'Rate', '$150'),
    cell('showtime on screen SCR-2', 'SCR-2', 'Showtime', '4:30 PM'),
    cell('Which format has the show on screen SCR-2?', 'SCR-2', 'Format', 'Standard'),
  ],
  'google-doc-document.pdf': [
    cell('What is the capital of Austria?', 'Capital', 'Austria', 'Vienna'),
    cell('What is the population of France?', 'Population', 'France', '67,413,000'),
    cell('On which continent is Indonesia?', 'Continent', 'Indonesia', 'Asia'),
    cell('capital of Germany', 'Capital', 'Germany', 'Berlin'),
  ],
  'tracemonkey.pdf': [
    cell('What speedup has crypto-md5?', 'crypto-md5', 'Speedup', '2.30x'),
    cell('How many traces does 3d-raytrace have?', '3d-raytrace', 'Traces', '100'),
    cell('How many aborts in string-fasta?', 'string-fasta', 'Aborts', '6'),
    cell('loops of crypto-aes', 'crypto-aes', 'Loops', '50'),
    cell('speedup of bitops-3bit-bits-in-byte', 'bitops-3bit-bits-in-byte', 'Speedup', '25.47x'),
    cell('traces per tree of access-fannkuch', 'access-fannkuch', 'Traces/Tree', '1.7'),
    cell('Which JS type has the tag 010?', '010', 'JS Type', 'number'),
    cell('What is the description of tag 100?', '100', 'Description', 'pointer to JSString handle'),
  ],
  'testPDF_protected.pdf': [
    cell('What was the skewness in 1985?', 'Skewness', '1985', '7.4'),
    cell('average path length in 2005', 'Average path length', '2005', '1.37'),
    cell('What was the kurtosis in 1995?', 'Kurtosis', '1995', '80.6'),
  ],
  'normal_4pages.pdf': [
    cell('감염병 분류 개정후', '분류', '개정후', '1급 감염병'),
    cell('감염병 분류 개정전', '분류', '개정전', '1군 감염병'),
  ],
}

/** Shared pdf documents without any table; a table found in one of them is false. */
export const sharedProse = [
  'annotated_pdf.pdf',
  'basicapi.pdf',
  'canvas.pdf',
  'crazyones-pdfa.pdf',
  'minimal-document.pdf',
  'libreoffice-form.pdf',
  'multi_page.pdf',
  'pdfjs_wikipedia.pdf',
  'pdflatex-4-pages.pdf',
  'pdflatex-outline.pdf',
  'prefilled_f1040.pdf',
  'ragflow_Doc1.pdf',
  'ragflow_Doc2.pdf',
  'ragflow_Doc3.pdf',
  'RECEIPT-2024-TXN-98765_retail_purchase.pdf',
  'testPDF.pdf',
  'testPDFTwoTextBoxes.pdf',
]
