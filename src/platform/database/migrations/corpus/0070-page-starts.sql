-- Where the pages after page_from begin, in code points of the extracted text: one number for each page up to page_to. A citation
-- opens the page of its quote. Null for chunks of older versions; then the first page is shown.
alter table chunks add column page_starts integer[];
