import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { PassageReference } from '@contract/chat.ts'
import { spaceRoute } from '../space-route.tsx'

/** Opens a document at a passage: its page, its range in the extracted text, and the quote to highlight. */
export function ViewerLink({
  documentId,
  passage,
  children,
  ...style
}: { documentId: string; passage?: PassageReference | undefined; children: ReactNode } & AnchorProps) {
  const { organisationId, spaceId } = spaceRoute.useParams()
  const search = passage && {
    ...(passage.page === undefined ? {} : { page: passage.page }),
    from: passage.start,
    to: passage.end,
    quote: passage.quote,
  }
  return (
    <Anchor
      component={Link}
      to={`/organisations/${organisationId}/spaces/${spaceId}/files/${documentId}` as '/'}
      search={search as never}
      {...style}
    >
      {children}
    </Anchor>
  )
}
