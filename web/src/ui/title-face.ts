/** Of the titles of pages and of the logo; app.css lists the faces. */
export const titleFace = 'var(--portico-title)'
