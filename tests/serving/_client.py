"""A client in this process: the application runs in the event loop of a thread."""

import asyncio
import threading

import httpx


class AppClient:
    """Starts an application, asks it, and stops it."""

    def __init__(self, app, base_url="http://127.0.0.1"):
        self.app, self.base_url = app, base_url
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self):
        self.thread.start()
        self.client = self.run(self._started())
        return self

    def __exit__(self, *_):
        self.run(self._stopped())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def request(self, *words, **more):
        return self.run(self.client.request(*words, **more))

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, **more):
        return self.request("POST", path, **more)

    async def _started(self):
        self.said, self.heard = asyncio.Queue(), asyncio.Queue()
        self.life = asyncio.create_task(self.app({"type": "lifespan"}, self.heard.get, self.said.put))
        await self._tell("startup")
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=self.base_url)

    async def _stopped(self):
        await self.client.aclose()
        await self._tell("shutdown")
        await self.life

    async def _tell(self, what):
        await self.heard.put({"type": f"lifespan.{what}"})
        assert await self.said.get() == {"type": f"lifespan.{what}.complete"}
