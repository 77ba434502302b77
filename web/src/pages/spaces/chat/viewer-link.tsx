import { type AnchorProps } from '@mantine/core'
import { type ReactNode, use } from 'react'
import type { PassageReference } from '@contract/chat.ts'
import { spaceRoute } from '../space-route.tsx'
import { AnchorLink } from '../../../ui/link.tsx'
import { AnswerPlace, noteScroll } from './answer-place.ts'

/** Opens a document at a passage: its page, its range in the extracted text, and the quote to highlight. From an answer there is a way back. */
export function ViewerLink({
  documentId,
  passage,
  children,
  ...style
}: { documentId: string; passage?: PassageReference | undefined; children: ReactNode } & AnchorProps) {
  const { organisationId, spaceId } = spaceRoute.useParams()
  const answer = use(AnswerPlace)
  const search = {
    ...(passage && {
      ...(passage.page === undefined ? {} : { page: passage.page }),
      from: passage.start,
      to: passage.end,
      quote: passage.quote,
    }),
    ...(answer !== undefined && { answer }),
  }
  return (
    <AnchorLink
      to="/organisations/$organisationId/spaces/$spaceId/files/$documentId"
      params={{ organisationId, spaceId, documentId }}
      search={search as never}
      {...(answer !== undefined && { onClick: () => noteScroll(answer) })}
      {...style}
    >
      {children}
    </AnchorLink>
  )
}
