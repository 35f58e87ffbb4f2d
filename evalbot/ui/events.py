"""Events of the pages: who asks is looked up each time, and errors become one sentence."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import gradio as gr

from evalbot.domain.people import Role, User
from evalbot.errors import EvalbotError, StoreError
from evalbot.ui.identity import Identity, NotAllowedError

UNREACHABLE = "The record cannot be read or written just now; try again in a while."
BUG = "This is a bug in evalbot; what it wrote to its terminal helps to mend it."


class Events:
    """Wraps handlers, so that none can be called by who may not.

    A handler is given the user, then the values of its inputs. It may be a plain function, a
    coroutine, or an async generator.
    """

    def __init__(self, identity: Identity, role: Role) -> None:
        self._identity = identity
        self._role = role

    def guarded(self, handler: Callable[..., Any], *, wants_request: bool = False) -> Any:
        """The handler as Gradio calls it.

        wants_request: it is given the request after the user, e.g. for its language.
        """

        def known(request: gr.Request, values: tuple[Any, ...]) -> tuple[Any, ...]:
            user = self._user(request)
            return (user, request, *values) if wants_request else (user, *values)

        if inspect.isasyncgenfunction(handler):

            async def stream(request: gr.Request, *values: Any) -> AsyncIterator[Any]:
                try:
                    # A page that is left closes this generator; its work has to end then, too.
                    async with aclosing(handler(*known(request, values))) as parts:
                        async for part in parts:
                            yield part
                except Exception as error:
                    raise self.told(error) from error

            return stream
        if inspect.iscoroutinefunction(handler):

            async def later(request: gr.Request, *values: Any) -> Any:
                try:
                    return await handler(*known(request, values))
                except Exception as error:
                    raise self.told(error) from error

            return later

        def now(request: gr.Request, *values: Any) -> Any:
            try:
                return handler(*known(request, values))
            except Exception as error:
                raise self.told(error) from error

        return now

    def _user(self, request: gr.Request) -> User:
        return self._identity.require(dict(request.cookies), self._role)

    def told(self, error: Exception) -> Exception:
        """What the page shows of an error."""
        if isinstance(error, gr.Error):
            return error
        if isinstance(error, StoreError) and self._role is Role.REVIEWER:
            # Its words tell where the record lies, and what stands in it.
            return gr.Error(UNREACHABLE)
        if isinstance(error, (EvalbotError, NotAllowedError)):
            return gr.Error(str(error), print_exception=False)
        return gr.Error(BUG)
